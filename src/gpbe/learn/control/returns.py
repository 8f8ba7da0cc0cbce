"""The paper's performance measure: every step carries the return of the episode that it belongs to."""

import numpy as np

from gpbe.shapes import Array


def returns_at_records(first: Array, at_end: Array, last: Array) -> Array:
    """Returns of the episodes that the recorded steps belong to, along the last axis (one entry a stretch).

    Args:
        first: return of the first episode to end within each stretch; NaN if none did.
        at_end: return of the episode that ended exactly with the stretch's last step; NaN if none did.
        last: return of the last episode to have ended by the end of each stretch; NaN before the first.

    The recorded step is the last of its stretch. If an episode ended with it, that is its episode; otherwise its
    episode is the first to end in a later stretch. The unfinished last episode repeats the last finished one's return;
    NaN if there is none.

    >>> nan = np.nan
    >>> returns_at_records(np.array([nan, -7.0, nan]), np.array([nan, nan, nan]), np.array([nan, -5.0, -5.0]))
    array([-7., -5., -5.])
    """
    out = np.empty(first.shape)
    coming = last[..., -1]
    for k in range(first.shape[-1] - 1, -1, -1):
        out[..., k] = np.where(np.isnan(at_end[..., k]), coming, at_end[..., k])
        coming = np.where(np.isnan(first[..., k]), coming, first[..., k])
    return out
