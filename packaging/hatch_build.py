"""Makes the wheel of scripts/release: the package together with the program, for one kind of machine."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WithProgram(BuildHookInterface):
    """Names the kind of machine that the program runs on, which $IPCPERF_WHEEL_PLATFORM has."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Sets the tag of the wheel. `version` is that of the build target."""
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['IPCPERF_WHEEL_PLATFORM']}"
