"""What an org decided for all its people."""
