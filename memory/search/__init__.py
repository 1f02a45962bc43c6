"""Search: what fits a question, best first and with reasons, or silence.

Start at `actions.search`. It reads as its stages; each has one module:

1. understand (`query`): kind of the question, words, identifiers, language. No model.
2. embed: one vector, outside of a unit. A search without one goes on by words and says so.
3. candidates (`queries.find_candidates`, `sql/functions.sql: find_candidates`): one statement finds
   by meaning, by words (BM25), around files, by named things and by topics; visibility and filters
   are inside each path, before its limit.
4. fuse (`fusion`): one score of all paths, by the kind of the question.
5. neighbors (`fusion` too): turns of a session count for each other; files of the first ten lift
   what is about them.
6. rank (`ranking`): the terms and multipliers of a named profile; every score is the sum of parts.
7. rerank (`refinement`): a second model looks at the best 30 where that pays.
8. judge: how likely a hit answers at all, 0..1 (`relevance`); `pool.judge` compares that with the
   threshold. A search is silent where no hit reaches it; packs leave out each hit that does not.
9. read: the chosen memories, with what contradicts them; that they were given out is logged.
10. organize (`presentation`) and pack (`packing`, `context`) where that is asked for.

`pool` holds the candidates of one search with what is known of each, and says whether the graph
changed the first hits; `request` checks what is asked and turns it into the question of the
database; `lookups` asks without a ranking (pattern, file, likeness, time, rarest words).

Why a result is where it is: `presentation.explain` names each part, and `sql/functions.sql` how the
paths found it.

Decisions:
- Min-max fusion beats reciprocal ranks on the judged sets: the margins of a path say something.
- Fusion scores rank within one question and say nothing across questions, so silence is decided by
  a fitted probability (`manage.py evaluate fit-relevance`), not by a score.
- Up to 10,000 live rows an exact scan is as fast as an index and loses nothing.
- No model is asked inside of a unit: the usual search is one transaction without waiting.
- A secret in a question is left out before anything is compared, kept or sent.
"""
