"""Signing out at the identity provider, told to Keepline by the provider itself."""
