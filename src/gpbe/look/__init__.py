"""Results to look at: the page of a diagnosis, what notebooks show, and the explorer."""

from gpbe.look.diagnosis import check_kind, page, write

__all__ = ["check_kind", "page", "write"]
