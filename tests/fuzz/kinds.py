"""What can be given to gpbe, kind by kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.agents import Agents
from fuzz.commands import Commands
from fuzz.drawings import Drawings
from fuzz.problems import Problems
from fuzz.requests import Requests
from fuzz.specs import Specs
from fuzz.tables import Logs, Results

KINDS: dict[str, Callable[[Path], Any]] = {
    "problems": Problems,
    "agents": Agents,
    "specs": Specs,
    "logs": Logs,
    "results": Results,
    "drawings": Drawings,
    "commands": Commands,
    "requests": Requests,
}
