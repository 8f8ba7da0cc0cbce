"""Many chunks of work on many workers, into a results folder (gpbe.store).

`run` does it; a `Chunk` is the unit; `Local` and `Ray` are where it can happen; `progress` shows how far it is.
"""

from gpbe.sweep.chunk import Chunk
from gpbe.sweep.cluster import Ray
from gpbe.sweep.events import Counts, Display, Event, Report
from gpbe.sweep.executor import Crew, Executor
from gpbe.sweep.local import Local
from gpbe.sweep.progress import progress
from gpbe.sweep.run import run

__all__ = ["Chunk", "Counts", "Crew", "Display", "Event", "Executor", "Local", "Ray", "Report", "progress", "run"]
