"""How each agent's program says what happens, and how it wants to be answered (spec 8.3)."""
