"""Background work of memories: what each job name runs, and the upkeep of each slot."""

from memory.tasks import request_jobs, session_jobs, upkeep

__all__ = ["request_jobs", "session_jobs", "upkeep"]
