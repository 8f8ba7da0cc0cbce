"""Results that survive anything: one atomic Parquet part a chunk, with provenance, a checksum, resume and a lock.

`Results` is what a driver writes into; `status` and `scan` read a folder, also while it is written.
"""

from gpbe.store.folder import Results, SetAside
from gpbe.store.identity import canonical, digest, versions
from gpbe.store.manifest import Manifest
from gpbe.store.packed import pack, unpack
from gpbe.store.part import Damaged, check, encode
from gpbe.store.view import Status, scan, spec, status

__all__ = [
    "Damaged",
    "Manifest",
    "Results",
    "SetAside",
    "Status",
    "canonical",
    "check",
    "digest",
    "encode",
    "pack",
    "scan",
    "spec",
    "status",
    "unpack",
    "versions",
]
