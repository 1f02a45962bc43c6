"""Labelled sessions of agents: what really happened in them stands beside what they sent."""
