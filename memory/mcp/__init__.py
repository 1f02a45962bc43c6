"""Memories for agents over MCP (spec 8.2): the same actions as REST, described for a model."""
