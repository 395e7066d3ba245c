"""Executes notebooks from the first cell to the last, and fails if a cell fails.

    python notebooks/execute.py                     # all notebooks in the folder of this file
    python notebooks/execute.py --keep DIR lab      # one notebook; writes it with its outputs to DIR

The repository contains notebooks without outputs; a notebook with outputs is reported and counts as failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Executes the named notebooks and returns the exit code."""
    arguments = parsed()
    went_well = [is_well(name, arguments.timeout, arguments.keep) for name in arguments.names]
    return 0 if all(went_well) else 1


def parsed() -> argparse.Namespace:
    """Returns the arguments."""
    parser = argparse.ArgumentParser(description="Execute notebooks; fail if a cell fails.")
    parser.add_argument("names", nargs="*", help="notebooks, without .ipynb [default: all]")
    parser.add_argument(
        "--timeout", type=int, default=300, metavar="S", help="maximum time per cell, s [300]"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="write the notebooks with their outputs to DIR"
    )
    arguments = parser.parse_args()
    known = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    arguments.names = arguments.names or known
    for name in arguments.names:
        if name not in known:
            parser.error(f"unknown notebook {name}; expected one of {', '.join(known)}")
    return arguments


def is_well(name: str, timeout_s: int, keep: Path | None) -> bool:
    """Executes one notebook and returns whether it succeeded."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells):
        print(f"{name}: has outputs; clear them before you commit", file=sys.stderr)
        return False
    began = time.monotonic()
    wrong = what_went_wrong(notebook, timeout_s)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, keep / f"{name}.ipynb")
    if wrong is not None:
        print(f"{name}: {wrong}", file=sys.stderr)
        return False
    print(f"{name}: executed in {time.monotonic() - began:.0f} s", flush=True)
    return True


def what_went_wrong(notebook: nbformat.NotebookNode, timeout_s: int) -> str | None:
    """Executes `notebook` in its folder; returns the error with the traceback of the cell, or None."""
    client = NotebookClient(
        notebook,
        timeout=timeout_s,
        kernel_name="python3",
        # Otherwise each kernel warns that its connection, over the loopback interface, is not encrypted.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(FOLDER)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellControlSignal, DeadKernelError, TimeoutError) as error:
        return str(error) or type(error).__name__
    return None


if __name__ == "__main__":
    sys.exit(main())
