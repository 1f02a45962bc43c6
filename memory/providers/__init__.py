"""Model vendors behind one seam: the only code that speaks to embedders, rerankers, chat models.

In the flow: actions ask `registry` for an `Embedder`, `Reranker` or `ChatModel` (`contracts`) and
get one that is guarded (`guard`) and whose every answer is checked (`answers`).
"""
