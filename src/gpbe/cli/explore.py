"""`gpbe explore`: a page on this machine where a problem can be changed by hand."""

import os
import sys
import webbrowser

from tyro.conf import Positional

from gpbe.cli.options import Json, Number, ProblemName
from gpbe.cli.problems import read_problem
from gpbe.cli.terminal import print_json


def explore(
    problem: Positional[ProblemName],
    index: Number = None,
    port: int = 0,
    browser: bool = True,
    json: Json = False,
) -> None:
    """Open a page where policies, lambda, discount and features can be moved, and see what TD and its relatives do.

    The page is served by this command, on 127.0.0.1, until it is interrupted (Ctrl-C). A problem may have 128 states
    and features; `gpbe diagnose --out page.html` shows larger ones.

    Args:
        problem: a name from `gpbe list problems`, or a .toml or .npz file with a problem of your own
        index: which problem of a batch (`four-rooms` has eight)
        port: where to listen; 0 takes a port that is free
        browser: open the page in a browser, where there is one
        json: print the address as JSON
    """
    from gpbe.look.explorer import Explorer

    with Explorer(read_problem(problem, index), port) as explorer:
        if json:
            print_json({"address": explorer.address})
        else:
            print(f"explore {problem}: {explorer.address}\nCtrl-C ends it")
        sys.stdout.flush()
        if browser and has_windows():
            webbrowser.open(explorer.address)
        try:
            explorer.serve()
        except KeyboardInterrupt:  # this is how it ends
            return


def has_windows() -> bool:
    """Is there a screen for a browser? One in the terminal would take it from this command."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
