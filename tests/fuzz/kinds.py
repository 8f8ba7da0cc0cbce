"""What can be given to gpbe, kind by kind: where its cases are, which only its own process imports."""

KINDS = {
    "problems": "fuzz.problems:Problems",
    "agents": "fuzz.agents:Agents",
    "specs": "fuzz.specs:Specs",
    "logs": "fuzz.tables:Logs",
    "results": "fuzz.tables:Results",
    "drawings": "fuzz.drawings:Drawings",
    "commands": "fuzz.commands:Commands",
    "lines": "fuzz.commands:Lines",
    "requests": "fuzz.requests:Requests",
}
