"""What a piece of text is once it is stored: cleaned in one way, counted in one way."""
