"""Documents: import files, export memories, and keep notes that memories come from.

Reading, from bytes to candidates:

    reading         which format a file has, by its content; encodings; zips within bounds
    json_rows       own exports, JSON and mem0
    markdown_notes  Markdown, Obsidian and basic-memory, as statements that can be read alone
    memory_v3       the SQLite file of memory-v3
    file_formats    the values in between: candidates, faults with their place, own records

And what is done with them:

    actions.uploads         judge every statement of an upload, or preview it; nothing is stored
    actions.import_batches  begin an import, run it part by part, cancel, try again, undo
    actions.note_push       bring a kept document to a new text; its memories follow
    actions.export          write a file as a whole before its first byte is sent
    actions.restoration     restore an own export as it was, for who manages the organization
    queries                 imports and notes as the caller sees them; the records of an export

Decisions:

- A reader never raises for a bad row: it is a fault with its line, and the rest goes on.
- What a file says waits for review; it confirms nothing as a person would.
- The id of a statement is made of its file, headings and words. So a second import of an unchanged
  document meets the same memories, and a change elsewhere in it moves none.
- JSON, JSON lines and Markdown lose nothing: what they hold can be restored as it was. Every column
  of a memory is decided in `file_formats.FIELDS`, and a test fails for one that is not.

Start with `reading.read_all` and `actions.import_batches`.
"""
