"""What runs beside the agent: a client of the server, the command line `cairn`, transcripts.

It is shipped on its own as `cairn_client` (`deploy/client`), so it imports nothing else of Cairn
and its own parts relatively. httpx and rich load slower than most commands run, so they are
imported where they are used.

- `cli.py` is the command line: its table names the commands, which stand in `commands/`.
- `api.py` has the calls of the server with their retries. Answers are the server's own objects;
  those that the documentation names are values with what a newer server adds in `raw`.
- `transcripts/` reads what Claude Code and Codex write (`parsers.py`: line by line, from a state to
  the next), and sends it as sessions (`upload.py`); bookmarks say how far each file was sent, and
  sequence numbers follow from lines, so nothing is ever stored twice.
- `install.py` puts what agents need into their programs' files, and takes it out again.
- `masking.py` takes secrets out of transcripts before they are sent (the server masks or refuses
  what comes by hooks and commands), by rules which the server uses
  too; it scans again with a catalog beside them.

Start reading at `cli.py`.
"""
