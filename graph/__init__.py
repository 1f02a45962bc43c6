"""Code and knowledge as nodes and edges: the tenant schema.

What it is for. The code of a project is indexed without keeping its text: files and what they
define are nodes, what they call, import and inherit are edges.

Flow. `index.announce_files` compares a manifest with what is known and says which files to send;
`index.take_files` has each parsed in a process of its own (`index.parser_process`), bounded in time
and memory, and stores symbols and references; a job makes the edges anew (`index.resolve_code`)
with `code`, which is pure: `parse` reads one file, `resolve` joins all files of a project.

Decisions.
- Files are untrusted: the parser knows no database and no secret, and may die of a file.
- References are stored as they were written, so edges can be made anew without any text.
- Reading, resolving and writing are three steps; if files came meanwhile, nothing is written and
  the work is queued again.
- `algorithms` are pure: communities for topics, and which layers a question is about.

Start reading at `code/values.py`, then `index/take_files.py` and `code/name_resolution.py`.
"""
