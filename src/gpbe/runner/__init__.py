"""Many chunks of work on many workers, into a results folder (gpbe.store).

`run` does it; a `Chunk` is the unit; `Local` and `Ray` are where it can happen; `progress` shows how far it is.
"""

from gpbe.runner.chunk import Chunk
from gpbe.runner.cluster import Ray
from gpbe.runner.events import Counts, Display, Event, Report
from gpbe.runner.executor import Crew, Executor
from gpbe.runner.local import Local
from gpbe.runner.progress import progress
from gpbe.runner.run import run

__all__ = ["Chunk", "Counts", "Crew", "Display", "Event", "Executor", "Local", "Ray", "Report", "progress", "run"]
