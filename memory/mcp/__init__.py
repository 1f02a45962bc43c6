"""Memories for agents over MCP: the same actions as REST, described for a model.

1. `app` admits a request: token, address, limits; it makes the Caller, like REST.
2. `server` speaks the protocol through the official SDK and finds the tool in `TOOLS`.
3. The tool's arguments are checked by its model (`declaration.Tool.check`), and its function asks
   one action or query: `finding`, `keeping`, `checking`.
4. What it returns is shown by the answer's model. `declaration` also holds what several tools
   share; filters and findings are those of REST. `prompts` are for the agent's person.

To add a tool, write a function with `@tool` in one of the three modules, name it in `server.TOOLS`
and in `own_tools` of `memory/sessions/tables/programs.toml`; the guide for contributors lists the
tests that ask for it. Start reading at `declaration`.
"""
