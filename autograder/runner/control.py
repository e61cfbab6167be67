"""What the judge and a zygote tell each other: one JSON object a message, with descriptors beside.

Both ends are ours. Student code never holds this socket.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

LARGEST = 1 << 16


def pair() -> tuple[socket.socket, socket.socket]:
    """Make the two ends; messages keep their bounds, so none is ever half read."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message, and copies of open descriptors.

    Raises OSError where the other end is gone, ValueError for a message that is too long.
    """
    data = json.dumps(message).encode()
    if len(data) > LARGEST:
        raise ValueError(f"a message to the sandbox has {len(data)} bytes; {LARGEST} at most")
    socket.send_fds(end, [data], list(descriptors))


def receive(end: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Wait for one message and its descriptors; None when the other end is gone."""
    try:
        data, descriptors, _, _ = socket.recv_fds(end, LARGEST, 1)
    except ConnectionResetError:
        return None, []
    return (json.loads(data) if data else None), descriptors
