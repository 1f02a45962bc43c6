"""Secrets in texts: found before anything is stored, named by kind and place, and taken out.

Everything is done in this process; whether a key still opens anything is never tried, for that
would send it away. The flow of `scanner.find_secrets`:

1. `readings` there reads a text in other ways: escapes resolved, encodings taken off, lines joined.
2. `memory.client.masking` tries our own table on each reading: passwords in prose, in
   assignments, in addresses and commands, which a scanner of vendors' keys lacks. The table stands
   in the client, which masks by it too and is shipped without anything else of ours.
3. `scanner` asks Kingfisher about each reading: its rules know the keys of 400 services.
4. What was found is placed in the first text. A finding names a kind and a place, never the value.

`findings` writes the text without them, or a message about them, and masks all texts of an event
of an agent. Lines of the log are looked at by our rules alone until
Kingfisher is loaded, since loading it is logged.

Decisions, measured by tests/integration/memory/secrets/test_detection.py (1,509 planted secrets of
118 kinds in six contexts and six encodings; half of the kinds were held out while rules were
mended; 2,800 clean texts):
- Kingfisher alone finds 65 % and 57 % of the two halves; with our rules and readings 99.9 % and
  98.3 %; none of the clean texts is flagged. A rule that changes neither figure nor a listed
  behavior is not kept.
- Compiling Kingfisher's rules takes ten seconds, so that is a step of the first start; reading what
  was compiled takes one, so a server does it while it starts.
- Two encodings one inside of another are taken off, as gitleaks does, and no more.

Start reading at `scanner`.
"""
