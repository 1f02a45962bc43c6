"""Memories for agents over MCP: the same actions as REST, described for a model."""
