"""From the turns of a conversation to candidates, by words alone or with a model.

The flow: `actions.extract_part` takes a part of a conversation and what may be spent on it. Without
a model (`heuristic`) `extract.extract` looks for sentences with a cue that are no talk (`chatter`)
and can be read alone. With a model (`llm`) `model_answers` writes the turns between two marks, asks
for the shape of `prompts`, and checks each candidate against the turn it names: its words must
stand there. `hybrid` asks the model about all turns but mere talk (`worth_asking`).

Decisions: A model that is away, slow, over its budget or wrong in form never loses a conversation:
the extractor by words does the same part, and the answer says that it was degraded. No model is
called inside of a transaction. What a person corrects outranks what their agent said before. What
an agent's turn merely carries (code, logs, the output of tools, quoted text) is never read. What a
candidate is to stored memories (new, update, extend, contradicts) is judged by words in
`memory.intake`, or by a model (`actions.judge`), one call for many pairs; what was added is
compared after it was stored (`actions.judge_added`).

Costs are counted by day, project and model and shown by `queries.usage`. Begin to read at
`extract_part`.
"""
