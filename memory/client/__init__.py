"""What runs beside the agent: a client, a command line, transcripts replayed.

It is shipped on its own, as `cairn_client` (`deploy/client`), so it imports nothing else of ours
and finds its own parts relatively.
"""
