"""The trail of who did what; entries are written in the transaction of the act."""
