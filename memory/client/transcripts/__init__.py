"""Transcripts of agents' programs: found, read line by line, sent as sessions."""
