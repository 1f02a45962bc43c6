"""Transcripts of agents' programs: found, read line by line, sent as sessions.

Secrets are masked while a line is read (`parsers.masked`, called by `reader` and by
`parsers.arguments`); `upload` sends nothing else.
"""
