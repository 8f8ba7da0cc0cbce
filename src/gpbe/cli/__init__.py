"""The command line. Each command stands with what it does; here they are put together, and mistakes become one line."""

import contextlib
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import tyro

from gpbe.cli.commands import Commands, told_only
from gpbe.cli.streams import open_streams, said_of, say, silence
from gpbe.cli.terminal import Stopped
from gpbe.errors import InputError, one_line
from gpbe.interrupts import interruptible, interruption_behind, number_of, received
from gpbe.process import thin_products

INTERRUPTED = "interrupted; files written are whole"
COMMANDS = Commands()
"""Every command's function, by name."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Errors that a user can make end in one line on standard error and exit code 2."""
    open_streams()
    try:
        with interruptible(), warnings.catch_warnings():
            warnings.showwarning = _warn
            _run(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
    except InputError as error:
        _fail(str(error))
    except KeyboardInterrupt as interruption:
        said = interruption.message if isinstance(interruption, Stopped) else INTERRUPTED
        say(f"gpbe: {said}")
        sys.exit(128 + number_of(interruption))
    except BrokenPipeError:  # the reader (head, say) has gone: there is nobody to say more to
        silence(sys.stdout, sys.stderr)
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        if interruption := interruption_behind(error):
            silence(sys.stdout, sys.stderr)
            sys.exit(128 + number_of(interruption))
        _fail(said_of(error))
    except MemoryError:
        _fail("this machine has not enough memory for that; ask for less")
    except Exception:
        if (number := received()) is None:
            raise
        say(f"gpbe: {INTERRUPTED}")  # a compiled module that is interrupted while it is imported says ImportError
        sys.exit(128 + number)


def _run(arguments: list[str]) -> None:
    if any("\0" in argument for argument in arguments):
        raise InputError("an argument has a null byte in it; no name of a file or a folder has one")
    if arguments == ["--version"]:
        from gpbe import __version__

        print(f"gpbe {__version__}")
    else:
        if arguments[:1] in (["predict"], ["evaluate"]):
            os.environ.update(thin_products(os.environ))
        _parsed(arguments)()


def _parsed(arguments: list[str]) -> Callable[[], None]:
    """The command that was typed, with its arguments; help is printed here."""
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        from gpbe.checks import unknown

        raise unknown("command", arguments[0], COMMANDS)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.extras.subcommand_cli_from_dict(
                {name: _later(COMMANDS[name] if _needed(name, arguments) else told_only(name)) for name in COMMANDS},
                prog="gpbe",
                description="Off-policy value estimation with the generalized projected Bellman error. "
                "`gpbe COMMAND --help` tells what a command takes, and `gpbe --version` which gpbe this is.",
                args=arguments or ["--help"],
            )
    except SystemExit as stop:
        if stop.code not in (0, None):
            _fail(_one_line(complaint.getvalue()))
        sys.stdout.flush()
        raise


def _needed(name: str, arguments: list[str]) -> bool:
    """The command that is asked for; for shell completion all of them."""
    return any(first == name or "completion" in first for first in arguments[:1])


def _later(run: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """The same command line as `run`, but parsing only; so that errors of parsing and of running stay apart."""
    import functools

    @functools.wraps(run)
    def parsed(*args: Any, **kwargs: Any) -> Callable[[], None]:
        return functools.partial(run, *args, **kwargs)

    parsed.__annotations__ = {**run.__annotations__, "return": Callable[[], None]}
    return parsed


def _warn(message: Warning | str, *_: object) -> None:
    say(f"gpbe: warning: {one_line(str(message))}")


def _fail(message: str) -> NoReturn:
    say(f"gpbe: {one_line(message)}")
    sys.exit(2)


def _one_line(complaint: str) -> str:
    """What the parser says in a box, as one line without the box and its title."""
    words = re.sub(r"\s+", " ", re.sub(r"╭[^╮]*╮|[─-╿]|-{5,}", " ", complaint)).strip()
    # Of a wrong number the parser tells every way in which it could not be read.
    wrong = re.search(r"Error parsing (\S+): .*?('[^']*').* Argument helptext: \S+ (\w+) ", words)
    if wrong:
        return "{0} should be {2}, not {1}".format(*wrong.groups())
    missing = re.search(r"Missing from (gpbe \w+): (\S+)", words)
    if missing:
        return "{0} needs {1}; {0} --help tells what that is".format(*missing.groups())
    missing = re.search(r"Missing value for argument '([\w-]+)'\. .* run (gpbe \w+) --help", words)
    if missing:
        return "{1} needs {0}; {1} --help tells what that is".format(missing[1].upper(), missing[2])
    # Of an option that there is not, it tells all about others with a similar name.
    unread = re.search(r"Unrecognized options: ([^ ,]+)", words)
    if unread and not unread[1].startswith("-"):
        return f"{unread[1]!r} is one argument too many; --help tells what the command takes"
    if unread:
        close = re.findall(r"(?:meant:|--help) (--[\w-]+)", words)
        instead = f"did you mean {' or '.join(close)}?" if close else "--help lists what there is"
        return f"there is no option {unread[1]} here; {instead}"
    choice = re.search(r"invalid choice '(.*)' for argument '(-*)([\w-]+)'\. Expected one of \((.*?)\)\.", words)
    if choice:
        from gpbe.checks import hint

        given, dashes, name, known = choice.groups()
        names = re.findall(r"'([^']*)'", known)
        if "None" in names:  # of an option that may be left out; then their order is that of a set
            names = sorted(set(names) - {"None"})
        right = hint(given, names)
        return f"{name} is {given!r}; {right}" if dashes else f"{given!r} is not known here; {right}"
    return words or "the arguments could not be read; see gpbe --help"
