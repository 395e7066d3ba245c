"""Exceptions and warnings, one type for each way in which a caller may react.

``ipcperf --help`` lists the exit codes of the command.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ipcperf.results import Results


class IpcperfError(Exception):
    """Base class of the exceptions of this package.

    They can be pickled, so that a process pool reports them like any other exception.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Describes how to restore the exception: with its message and attributes, not by `__init__`.

        An exception restores itself by `__init__` with the message alone, but these take other arguments.
        """
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[IpcperfError], args: tuple[Any, ...], attributes: dict[str, Any]) -> IpcperfError:
    """Creates an exception of the given kind with `args` and `attributes`."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class CommandNotFound(IpcperfError):
    """ipcperf was not found, or cannot be started. The message has a remedy."""


class NotObserved(IpcperfError, LookupError):
    """The file has no observations of the instrument. The message has the reason, if it is known."""


class BadResults(IpcperfError):
    """A file is not a results file, has another schema, or contains a bad line.

    Attributes:
        path: the file.
        line: number of the line, from 1; None if the whole file is meant.
    """

    def __init__(self, path: Path, words: str, line: int | None = None) -> None:
        """Describes the error in `path`, or in its `line` if one is given."""
        place = f"{path}: " if line is None else f"{path}: line {line}: "
        super().__init__(place + words)
        self.path = path
        self.line = line


class UnreadableResults(IpcperfError, OSError):
    """A results file cannot be opened or read. The message has a remedy; `errno` has the cause.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, cause: OSError) -> None:
        """Describes why `path` cannot be read."""
        remedy = _REMEDIES.get(cause.errno or 0, "see the cause")
        super().__init__(f"cannot read {path}: {cause.strerror or cause}; {remedy}")
        self.path = path
        self.errno = cause.errno
        self._cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Describes how to restore the exception: by `__init__`, because `errno` is not in `__dict__`."""
        return type(self), (self.path, self._cause)


# Remedies for a file that cannot be read, by errno.
_REMEDIES = {
    errno.ENOENT: "check the path; results of a measurement without `out` are in "
    "~/.local/share/ipcperf (in $XDG_DATA_HOME/ipcperf if that is set)",
    errno.EISDIR: "name a file in this folder",
    errno.EACCES: "check the permissions of the file and of its folder",
}


class CommandFailed(IpcperfError):
    """The command failed; the message is its error message.

    Raised itself only for exit codes without a subclass, such as those of a crash.

    Attributes:
        exit_code: exit code of the command; negative for the signal that killed it.
        arguments: arguments of the command.
        stderr: everything that it wrote to standard error.
        results: results that were stored before it failed; None if there are none.
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
        """Creates the exception with the message `words`."""
        super().__init__(words)
        self.exit_code = exit_code
        self.arguments = tuple(arguments)
        self.stderr = stderr
        self.results = results


class BadUsage(CommandFailed):
    """Exit code 2: invalid arguments or files, or every cell is refused. Nothing was run."""

    code = 2


class NothingToRun(CommandFailed):
    """Exit code 3: none of the requested cases can run on this machine."""

    code = 3


class SomeFailed(CommandFailed):
    """Exit code 4: some runs failed. `results` has the others, `results.failures` the reasons."""

    code = 4


class NotWritten(CommandFailed):
    """Exit code 5: results could not be written. `results` has what was written, if it can be read."""

    code = 5


class Interrupted(CommandFailed):
    """A signal ended the command: Ctrl-C, or *Interrupt Kernel* in a notebook.

    `results` has what was measured. The exit code is 130, as shown by a shell for Ctrl-C.
    """

    code = 130


CODES: dict[int, type[CommandFailed]] = {
    code: kind for kind in CommandFailed.__subclasses__() if (code := kind.code) is not None
}


class TornResults(UserWarning):
    """A results file is incomplete: its command was killed, or is still running."""


class MachineWarning(UserWarning):
    """A warning of the command about this machine, with its remedy."""
