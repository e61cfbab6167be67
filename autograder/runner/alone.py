"""What a process without a parent zygote does: import, then serve."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

READY = b"ready"


def serve_alone(connection: Connection, options: Mapping[str, Any]) -> None:
    """Serve the judge from a process of its own; ends the process."""
    if hasattr(os, "setsid"):
        os.setsid()  # so that it can be killed with all that it starts
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    try:
        session = importlib.import_module("autograder.runner.session")
        connection.send_bytes(READY)
        session.serve(connection, options)
    finally:
        os._exit(0)
