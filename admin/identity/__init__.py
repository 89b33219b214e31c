"""The identity providers of an org, and what their claims give."""
