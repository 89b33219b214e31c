"""The console script `keepline`: one file a command."""
