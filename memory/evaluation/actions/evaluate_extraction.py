"""Measure extraction on labelled conversations, by words or with the installation's model (2.3)."""

from dataclasses import dataclass
from typing import Final

from memory.evaluation import conversations
from memory.evaluation.conversations import Conversation, Outcome
from memory.extraction import transcripts
from memory.extraction.actions.extraction import Allowance, Mode, extract_part
from memory.extraction.extract import Candidate

TENANT: Final = "evaluation"  # whose circuit the calls use


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of a conversation, and why words stood in for a model, where they did."""

    outcome: Outcome
    degraded: str
    tokens: int


def evaluate_extraction(*, conversation: Conversation, mode: Mode) -> Measured:
    """Extract from one conversation and judge it; a model is asked once for each 30 turns."""
    allowance = Allowance(mode=mode, calls=len(conversation.turns), tokens=None, may_leave=True)
    found: list[Candidate] = []
    degraded, tokens = "", 0
    for batch in transcripts.batches(turns=conversation.turns):
        part = extract_part(turns=batch, allowance=allowance, tenant=TENANT)
        found.extend(part.candidates)
        degraded = part.degraded or degraded
        tokens += part.spent.tokens
    outcome = conversations.judge(conversation=conversation, candidates=found)
    return Measured(outcome=outcome, degraded=degraded, tokens=tokens)
