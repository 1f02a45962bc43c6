"""What searches read of memories: vectors, words, usage and topic membership, and their upkeep.

Narrow rows beside the memory (`models`), written and read by the queries of `queries`.
`actions.embedding` makes vectors, for a request or in a job; `actions.model_switch` changes the
model while searches go on; `actions.maintenance` carries a switch out, counts words and accesses,
and makes indexes for large organizations.

Decision: vectors are stored under the key of the model that made them, so a switch or a way back
never compares vectors of two models. Start with `models`, then `actions.embedding`.
"""
