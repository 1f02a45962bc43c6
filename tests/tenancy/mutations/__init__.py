"""Guards switched off one by one: the tests of isolation must notice each (mutation testing)."""
