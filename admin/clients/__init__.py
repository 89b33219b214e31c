"""The programs that an org lets act for its people."""
