"""Giving memory back: what is said to an agent, when, and how much of it (spec 4.6, 11.1)."""
