"""Synthetic lines of results files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[..., Path]

FOOTER: dict[str, Any] = {"kind": "footer", "complete": True}


def header(**more: Any) -> dict[str, Any]:
    """Returns a header with an empty plan."""
    return {"kind": "header", "schema": 2, "plan": {"cases": []}, **more}


def sample(**more: Any) -> dict[str, Any]:
    """Returns a sample with the required keys only."""
    return {
        "kind": "sample",
        "run_id": "1.0.1",
        "block": 1,
        "attempt": 1,
        "repetition": 1,
        "case_id": "pipe/stream/2proc/same/64",
        "mechanism": "pipe",
        "options": {},
        "buffer_bytes": 64,
        "elapsed_ns": 1000,
        "messages": 10,
        **more,
    }
