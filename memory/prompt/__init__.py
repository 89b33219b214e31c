"""The system prompt: what an assistant loads on every turn."""
