"""The commands under one name, and what becomes of errors and interruptions."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
import warnings

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from dcnbio.commands.analyze import analyze
from dcnbio.commands.analyze_completion import completion
from dcnbio.commands.check_solver import check_solver
from dcnbio.commands.checked_values import checked_values
from dcnbio.commands.cite import cite
from dcnbio.commands.evaluate import evaluate
from dcnbio.commands.export import export
from dcnbio.commands.figures import figures
from dcnbio.commands.import_checkpoint import import_checkpoint
from dcnbio.commands.info import info
from dcnbio.commands.interruption import Terminated, terminate
from dcnbio.commands.output import complain
from dcnbio.commands.probe import probe
from dcnbio.commands.report import report
from dcnbio.commands.train import train
from dcnbio.errors import DcnbioError
from dcnbio.version import __version__

__all__ = ["app", "run"]

TRACEBACK = "DCNBIO_TRACEBACK"

app = App(
    name="dcnbio",
    version=__version__,
    help="Record, measure and compare Deep Continuous Networks as one does a visual cortex.",
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
    default_parameter=Parameter(converter=checked_values),
    suppress_keyboard_interrupt=False,  # it comes to `run`, with the sentence of what is kept
)
app.command(probe)
app.command(train)
app.command(evaluate)
app.command(check_solver)
analyze.command(completion)
app.command(analyze)
app.command(figures)
app.command(report)
app.command(export)
app.command(info)
app.command(import_checkpoint, name="import")
app.command(cite)


def usage(error: CycloptsError) -> str:
    """Put cyclopts' finding in one sentence, with the help that lists what is allowed."""
    command = " ".join(("dcnbio", *(error.command_chain or ())))
    said = str(error)
    if isinstance(error, UnusedCliTokensError):
        alone = ", ".join(repr(token) for token in error.unused_tokens or ())
        said = f"{command} takes no {alone} alone; a value follows the name of its option, as in --limit 20."
    return f"{' '.join(said.split())} (see {command} --help)"


def is_memory(error: BaseException) -> bool:
    """Whether memory ran out; torch has its own words for that."""
    return isinstance(error, MemoryError) or "not enough memory" in str(error) or "out of memory" in str(error)


def of_system(error: OSError) -> str:
    """Put what the operating system refused in one sentence."""
    return f"{error.filename or 'the system'}: {error.strerror or error}"


def is_backend(error: Exception) -> bool:
    """Whether matplotlib refused what MPLBACKEND names, as it does when it is first imported."""
    return isinstance(error, ValueError) and "MPLBACKEND" in os.environ and "value for backend" in str(error)


def unexpected(error: Exception) -> int:
    """Say that the program is at fault; how to see where."""
    if is_memory(error):
        complain("memory ran out; use a smaller --batch-size, fewer --times or fewer --blocks")
        return 2
    if is_backend(error):
        complain(
            f"MPLBACKEND is {os.environ['MPLBACKEND']!r}, which matplotlib does not know; unset it, for dcnbio draws "
            "without a display, or set it to agg"
        )
        return 2
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    complain(
        f"unexpected {type(error).__name__}: {error}; this is a fault of dcnbio, so please report it with what "
        f"{TRACEBACK}=1 shows"
    )
    return 1


def prepare() -> None:
    """Set up signals, warnings and streams."""
    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.filterwarnings("ignore", category=FutureWarning)
    for stream in (sys.stdout, sys.stderr):
        # a file name that the terminal's encoding does not have is no reason to fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run(arguments: list[str]) -> int:
    """Run one command and give its exit status.

    0 done; 2 usage or input error, one plain message and nothing written; 3 finished but some items failed; 130 and 143
    after SIGINT and SIGTERM, with what is finished kept; 1 where dcnbio itself is at fault.
    """
    prepare()
    try:
        status = app(arguments)
        return status if isinstance(status, int) else 0
    except CycloptsError as error:
        complain(usage(error))
        return 2
    except DcnbioError as error:
        complain(str(error))
        return error.exit_status
    except KeyboardInterrupt as stop:
        complain(f"interrupted; {stop}" if str(stop) else "interrupted")
        return 130
    except Terminated as stop:
        complain(f"terminated; {stop}" if str(stop) else "terminated")
        return 143
    except (BrokenPipeError, SystemExit):  # the latter is how the help leaves when nobody reads it any more
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        complain(of_system(error))
        return 2
    except Exception as error:
        return unexpected(error)
