"""Where a person is signed in, and signing out there."""
