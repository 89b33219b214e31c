"""The personal block: one text per user, rewritten whole, and what is known about each of its lines."""
