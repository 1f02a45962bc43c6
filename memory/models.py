"""All models of the app in one place, as Django looks for them; import them from their subjects."""

from memory.customization.models import Definition
from memory.documents.models import Import, ImportRow, NoteVersion
from memory.entities.models import Mention
from memory.index.models import (
    AccessLog,
    EmbeddingModel,
    Lexeme,
    MemoryKeyword,
    MemoryUsage,
    MemoryVector,
)
from memory.intake.models import ActionLog
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.sessions.models import GivenOut, Session, Statistic, Stream, Turn
from memory.topics.models import Topic, TopicMember

__all__ = [
    "AccessLog",
    "ActionLog",
    "Conflict",
    "Definition",
    "EmbeddingModel",
    "GivenOut",
    "Import",
    "ImportRow",
    "Lexeme",
    "Memory",
    "MemoryKeyword",
    "MemoryLink",
    "MemoryUsage",
    "MemoryVector",
    "MemoryVersion",
    "Mention",
    "NoteVersion",
    "ReviewVerdict",
    "Session",
    "Statistic",
    "Stream",
    "Topic",
    "TopicMember",
    "Turn",
]
