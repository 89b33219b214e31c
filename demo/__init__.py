"""The demonstration: its people, its identity provider and how to get their tokens.

Only commands/ imports this package, so nothing in it can be reached from a production process.
"""
