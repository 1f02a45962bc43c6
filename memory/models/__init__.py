"""Models of memories and what is derived from them (tenant schema)."""

from memory.models.action_log import ActionLog
from memory.models.conflicts import Conflict
from memory.models.definitions import Definition
from memory.models.exchange import Import, ImportRow, NoteVersion
from memory.models.memories import Memory, MemoryLink, MemoryVersion
from memory.models.mentions import Mention
from memory.models.reviews import ReviewVerdict
from memory.models.search import (
    AccessLog,
    EmbeddingModel,
    Lexeme,
    MemoryKeyword,
    MemoryUsage,
    MemoryVector,
)
from memory.models.sessions import GivenOut, Session, Stream, Turn
from memory.models.statistics import Statistic
from memory.models.topics import Topic, TopicMember

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
