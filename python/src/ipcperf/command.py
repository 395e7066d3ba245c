"""The command: finding it, running it, and turning its exit codes into exceptions."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ipcperf.errors import CODES, CommandFailed, CommandNotFound, Interrupted, MachineWarning

if TYPE_CHECKING:
    from ipcperf.results import Results

StrPath = str | os.PathLike[str]

VARIABLE = "IPCPERF"
REMEDY = (
    "build it with `cargo build --release` and add target/release to PATH, or set the environment variable "
    f"{VARIABLE} or the argument `command` to the path of the program"
)
# Signals that ask the command to end: it keeps its results and dies of the signal.
ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
# Messages that are not errors: about the machine, and about what it lacks.
OF_THE_MACHINE = (
    "ipcperf: warning: ",
    "unavailable: ",
    "unavailable instrument: ",
    "partly unavailable instrument: ",
)
OF_A_FAILURE = ("ipcperf: ", "failed: ")


def find_command(command: StrPath | None = None) -> Path:
    """Returns the path of ipcperf: `command`, else the environment variable IPCPERF, else from PATH.

    If PATH has none, the program that was installed together with this package is used: the environment of
    a Python that is called by its path is not in PATH. `command` and the variable may be a path, or a name
    that is searched for in PATH.

    Raises:
        CommandNotFound: ipcperf was not found; the message has a remedy.
    """
    if command is not None:
        return _usable(os.fspath(command), "the argument `command`")
    if named := os.environ.get(VARIABLE):
        return _usable(named, f"the environment variable {VARIABLE}")
    installed = Path(sysconfig.get_path("scripts")) / "ipcperf"
    if not shutil.which("ipcperf") and shutil.which(installed):
        return installed
    return _usable("ipcperf", "")


def _usable(named: str, source: str) -> Path:
    if found := shutil.which(named):
        # Not resolved: a program may look at the name that it was called by.
        return Path(found).absolute()
    if source:
        raise CommandNotFound(f"{source} is {named!r}, which is not an executable program: {REMEDY}")
    raise CommandNotFound(f"ipcperf is not in PATH: {REMEDY}")


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    arguments: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str

    def failure(self, results: Results | None = None) -> CommandFailed:
        """Returns the exception for this exit code, with `results` if any were kept."""
        kind = CODES.get(self.exit_code, CommandFailed)
        return kind(
            self._words(),
            exit_code=self.exit_code,
            arguments=self.arguments,
            stderr=self.stderr,
            results=results,
        )

    def warn(self) -> None:
        """Issues the warnings of the command as Python warnings."""
        for line in self.stderr.splitlines():
            if line.startswith(OF_THE_MACHINE):
                warnings.warn(line.removeprefix(OF_THE_MACHINE[0]), MachineWarning, stacklevel=4)

    def _words(self) -> str:
        of_machine = [line for line in self.stderr.splitlines() if line.startswith(OF_THE_MACHINE)]
        said = [
            line.removeprefix(OF_A_FAILURE[0])
            for line in self.stderr.splitlines()
            if line.startswith(OF_A_FAILURE) and line not in of_machine
        ]
        return "\n".join(said) or self.stderr.strip() or f"ipcperf exited with code {self.exit_code}"


def invoke(command: Path, arguments: Sequence[str]) -> Finished:
    """Runs `command` with `arguments` until it ends; standard input is empty.

    An interrupt (Ctrl-C) is passed on, and the command gets time to end cleanly and keep its results.
    The exit code is then 130, as for any signal that asks the command to end.

    Raises:
        CommandNotFound: the command cannot be started.
    """
    try:
        process = subprocess.Popen(
            [command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise CommandNotFound(f"cannot start {command}: {error.strerror}; {REMEDY}") from error
    with process:
        stdout, stderr = _heard(process)
    return Finished(tuple(arguments), _exit_code(process.returncode), stdout, stderr)


def _exit_code(returned: int) -> int:
    """Returns the exit code for a return code: that of an interrupt if a signal asked the process to end."""
    return Interrupted.code if -returned in ASKING else returned


def _heard(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate()
    except KeyboardInterrupt:
        # From a terminal, the command has received the signal too; otherwise it has not. A second one does no
        # harm.
        process.send_signal(signal.SIGINT)
        heard = process.communicate()
        if _exit_code(process.returncode) != Interrupted.code:
            raise
        return heard
    except BaseException:
        process.kill()
        raise
