"""What memory refuses, as leaves of the common tree.

CairnError                              (accounts.errors)
├── InvalidInput
│   └── RefusedByGate            422    an intake gate refused the candidate
├── Forbidden
│   ├── ProtectedMemory          403    an agent may not forget or edit this
│   ├── GovernanceDenied         403    only a steward in person places a memory in layer 1
│   └── SelfApproval             403    who proposed a memory cannot approve it
├── Conflict
│   ├── NotActive                409    the memory is superseded, archived or deleted
│   └── NotSwitchable            409    the embedding model cannot be changed like this now
└── Unavailable
    ├── EmbedderUnavailable      503    no vectors can be made now; other paths still answer
    └── ModelUnavailable         503    no text model answers; heuristics are used where they exist
"""

from accounts.errors import Conflict, FieldError, Forbidden, InvalidInput, Unavailable


class RefusedByGate(InvalidInput):
    """An intake gate refused the candidate."""

    code = "refused_by_gate"
    title = "Not stored"

    def __init__(
        self, *, gate: str, detail: str, hint: str, errors: tuple[FieldError, ...] = ()
    ) -> None:
        """Keep the gate's name beside the reason and how to fix it."""
        super().__init__(detail=detail, hint=hint, errors=errors)
        self.gate = gate


class ProtectedMemory(Forbidden):
    """An agent may not forget or edit this memory."""

    code = "protected_memory"
    title = "Protected memory"


class GovernanceDenied(Forbidden):
    """Only a steward in person places a memory in layer 1."""

    code = "governance_denied"
    title = "Governance layer refused"


class SelfApproval(Forbidden):
    """Who proposed a memory cannot be the one who approves it."""

    code = "self_approval"
    title = "Someone else must approve this"


class NotActive(Conflict):
    """The memory is superseded, archived or deleted."""

    code = "not_active"
    title = "No longer active"


class NotSwitchable(Conflict):
    """The embedding model cannot be changed like this now."""

    code = "not_switchable"
    title = "The embedding model stays"


class EmbedderUnavailable(Unavailable):
    """No vectors can be made now."""

    code = "embedder_unavailable"
    title = "Embedding is unavailable"


class ModelUnavailable(Unavailable):
    """No text model answers now."""

    code = "model_unavailable"
    title = "The model is unavailable"
