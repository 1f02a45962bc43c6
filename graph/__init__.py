"""Code and knowledge as nodes and edges: the tenant schema.

What it is for. The code of a project is indexed without keeping its text: files and what they
define are nodes, what they call, import and inherit are edges.

Flow, in `index/actions.py`. `announce_files` compares a manifest with what is known and says which
files to send; `take_files` has each parsed in a process of its own (`index/parser_process.py`),
bounded in time and memory, and stores symbols and references; a job makes the edges anew
(`resolve_code`) with `code`, which is pure: `parse` reads one file, `resolve` joins all files of a
project.

Decisions.
- Files are untrusted: the parser knows no database and no secret, and may die of a file.
- References are stored as they were written, so edges can be made anew without any text.
- Reading, resolving and writing are three steps; if files came meanwhile, nothing is written and
  the work is queued again.
- `algorithms` are pure: communities for topics, and which layers a question is about.

Start reading at `code/values.py`, then `index/actions.py` and `code/resolve.py`.
"""
