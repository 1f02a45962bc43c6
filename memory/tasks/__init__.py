"""Background work of memories: what each job name runs, and the upkeep of each slot."""

from memory.tasks import job_handlers, upkeep

__all__ = ["job_handlers", "upkeep"]
