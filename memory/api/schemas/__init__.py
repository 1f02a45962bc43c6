"""The shapes of memories that REST and MCP share, one module a subject."""
