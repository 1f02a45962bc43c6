"""Model vendors behind one seam: the only code that speaks to embedders, rerankers, chat models.

Actions ask `registry` for an `Embedder`, `Reranker` or `ChatModel` (`contracts`) by its key,
"provider/name". What they get is ready to be used:

- A model of this machine (`local`, `static`) is loaded at its first use, once a process, and its
  vectors are checked (`contracts`).
- A model of a vendor (`openai_compatible`, `cohere_api`) sends through an HTTP client that bounds a
  whole exchange, and is called through `guard`: a deadline that includes retries, and a circuit
  breaker for each tenant and provider. Its answer is checked before anyone sees it.
- Whatever goes wrong is one of the errors of `errors`. The caller decides whether it has another
  way; nothing malformed is ever stored.

Without any setting no text leaves the machine: all-MiniLM-L6-v2 embeds, static token vectors
rerank, and there is no chat model. The weights are fetched once by `weights`, as data and only if
their sha256 is pinned there; it makes the graph that the local embedder runs (`bert_graph`), in
8-bit integers where the processor multiplies those fast.

Decisions:
- The vendors' own clients build and send requests, but neither their timeouts nor their retries are
  used: a timeout of theirs bounds one read, so that an answer of one byte a second never ends, and
  their retries know no total.
- Circuits live in the process, not in Redis: a dead vendor then costs five tries a process and
  minute, and a breaker needs no server to work.
- Clients and runtimes are imported where they are first used; they take up to 45 MB and half a
  second, which no start should wait for.

`name_reader` reads names at night and is an extra; `hashing` is for tests.
Start reading at `registry`, then `guard`.
"""
