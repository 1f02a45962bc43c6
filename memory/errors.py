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


class RefusedByGate(InvalidInput, code="refused_by_gate", title="Not stored"):
    """An intake gate refused the candidate."""

    def __init__(
        self, *, gate: str, detail: str, hint: str, errors: tuple[FieldError, ...] = ()
    ) -> None:
        """Keep the gate's name beside the reason and how to fix it."""
        super().__init__(detail=detail, hint=hint, errors=errors)
        self.gate = gate


class ProtectedMemory(Forbidden, code="protected_memory", title="Protected memory"):
    """An agent may not forget or edit this memory."""


class GovernanceDenied(Forbidden, code="governance_denied", title="Governance layer refused"):
    """Only a steward in person places a memory in layer 1."""


class SelfApproval(Forbidden, code="self_approval", title="Someone else must approve this"):
    """Who proposed a memory cannot be the one who approves it."""


class NotActive(Conflict, code="not_active", title="No longer active"):
    """The memory is superseded, archived or deleted."""


class NotSwitchable(Conflict, code="not_switchable", title="The embedding model stays"):
    """The embedding model cannot be changed like this now."""


class EmbedderUnavailable(
    Unavailable, code="embedder_unavailable", title="Embedding is unavailable"
):
    """No vectors can be made now."""


class ModelUnavailable(Unavailable, code="model_unavailable", title="The model is unavailable"):
    """No text model answers now."""
