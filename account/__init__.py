"""Signing in, signing out and the look of the pages."""
