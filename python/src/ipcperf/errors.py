"""What can go wrong: a type for each thing that a caller would do about it.

Exit codes are those of the command: ``ipcperf --help`` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from ipcperf.results import Results


class IpcperfError(Exception):
    """Whatever this package raises itself."""


class CommandNotFound(IpcperfError):
    """There is no ipcperf to run. The message says what would help."""


class NotObserved(IpcperfError, LookupError):
    """No run of the file was watched by that instrument. The message has the reason, where there is one."""


class BadResults(IpcperfError):
    """A file is no results file, is from a later ipcperf, or has a bad line inside.

    Attributes:
        path: the file.
        line: the number of the line, from 1; None where the file as a whole is meant.
    """

    def __init__(self, path: Path, words: str, line: int | None = None) -> None:
        """Says of `path`, and of its `line` where one is named, what is wrong with it."""
        place = f"{path}: " if line is None else f"{path}: line {line}: "
        super().__init__(place + words)
        self.path = path
        self.line = line


class CommandFailed(IpcperfError):
    """The command ended otherwise than well; its own words are the message.

    Raised itself only for exit codes that have no type of their own, such as those of a crash.

    Attributes:
        exit_code: what the command exited with; negative for the signal that ended it.
        arguments: what it was given.
        stderr: everything that it said on standard error.
        results: what was measured and kept before it ended so; None where nothing was.
    """

    code: ClassVar[int | None] = None

    def __init__(
        self,
        words: str,
        *,
        exit_code: int,
        arguments: Sequence[str],
        stderr: str,
        results: Results | None = None,
    ) -> None:
        """Keeps what the command said in `words`, and all around it."""
        super().__init__(words)
        self.exit_code = exit_code
        self.arguments = tuple(arguments)
        self.stderr = stderr
        self.results = results


class BadUsage(CommandFailed):
    """Exit code 2: arguments or a file are wrong, or every cell is refused. Nothing was run."""

    code = 2


class NothingToRun(CommandFailed):
    """Exit code 3: nothing of what was asked can run on this machine."""

    code = 3


class SomeFailed(CommandFailed):
    """Exit code 4: some runs failed. All others are in `results`, and its `failures` say what happened."""

    code = 4


class NotWritten(CommandFailed):
    """Exit code 5: results could not be written. `results` has what was, if that can be read."""

    code = 5


class Interrupted(CommandFailed):
    """The command was asked to end by a signal: Ctrl-C, or the kernel of a notebook was interrupted.

    `results` has what was measured. The exit code is that which a shell shows for Ctrl-C, 130.
    """

    code = 130


CODES: dict[int, type[CommandFailed]] = {
    code: kind for kind in CommandFailed.__subclasses__() if (code := kind.code) is not None
}


class TornResults(UserWarning):
    """A results file does not end as it should: its command was killed, or is still running."""


class MachineWarning(UserWarning):
    """Something about this machine that the command warned of, with its remedy."""
