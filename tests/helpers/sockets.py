"""Who listens where, as Linux tells it."""

import os
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

_LISTENS = "0A"


def descendants(pid: int) -> set[int]:
    """A process and all that it started, and these."""
    parents = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(each)] = int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
    found, new = set(), {pid}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in new}
    return found


def listening(pids: set[int]) -> dict[tuple[IPv4Address | IPv6Address, int], int]:
    """The addresses and ports at which some processes take connections, each with one of the processes."""
    inodes = {inode: pid for pid in pids for inode in _sockets(pid)}
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == _LISTENS and (pid := inodes.get(columns[9])):
                address, _, port = columns[1].partition(":")
                found[_address(address), int(port, 16)] = pid
    return found


def _sockets(pid: int) -> list[str]:
    try:
        links = [os.readlink(f"/proc/{pid}/fd/{each}") for each in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []
    return [link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")]


def _address(text: str) -> IPv4Address | IPv6Address:
    """An address from its words of four bytes, each written as a little-endian machine has it."""
    words = [bytes.fromhex(text[k : k + 8])[::-1] for k in range(0, len(text), 8)]
    found = ip_address(b"".join(words))
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found
