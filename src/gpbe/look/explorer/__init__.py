"""The explorer: a page on this machine where a person changes a problem and sees what TD and its relatives make of it.

It is served from the standard library, to this machine only, and every number on it comes from `gpbe.exact`.
"""

from gpbe.look.explorer.server import Explorer

__all__ = ["Explorer"]
