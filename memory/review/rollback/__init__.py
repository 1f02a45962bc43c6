"""Roll back what a writer, a token, a session, a time or an ancestor produced in a project.

Nothing is deleted. What was produced is archived, what was changed gets back the text it had, and
what was replaced is restored. Nobody's work but that of who is rolled back is undone: what somebody
else has kept, rewritten or moved since stays as it is, and the preview names the reason.

Flow, one module each:

    selection   who may choose what; the rows it reaches, and which of them others stand for
    plan        what becomes of each row, in the order in which it is written; the preview
    execute     lock, plan again, write; the receipt; the job that does large rollbacks
    undo        take one call back as a whole

Decisions:

- Preview and execution read the same plan, so the numbers of a preview are those of the receipt; a
  property test lets random histories happen and compares the two.
- A call is one transaction of at most `MOST` memories, in a request or in a job. A job that is
  tried again finds the receipt of what it committed. Tried before and dropped: parts of 200 with a
  transaction each. The numbers then had to be read back from the verdicts, and where one part ended
  decided what the next one could restore.
- Changes are known of persons and times only: no version says in which session it was made.
- Each archived or rewritten memory has a verdict of its own with how it was. Those of one call have
  one timestamp, by which `undo` finds them.
"""
