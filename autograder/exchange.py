"""One frame there and one back over a socket, whatever the other end does: the clock wins.

A frame is what `multiprocessing.connection.Connection` sends and receives: its length, then that
many bytes. The other end may be a student's program, so a length is believed only up to a bound,
and memory is taken as bytes arrive, not as they are announced.
"""

from __future__ import annotations

import select
import socket
import struct
import time

CHUNK = 1 << 18
LARGEST_SHORT = 0x7FFFFFFF  # longer frames have a long head


class TooLargeError(Exception):
    """The other end sends more than is asked for."""


def send_frame(end: socket.socket, data: bytes, until: float) -> None:
    """Send one frame before the monotonic clock shows `until`.

    Raises TimeoutError, or EOFError if the other end is gone.
    """
    short = len(data) <= LARGEST_SHORT
    head = struct.pack("!i", len(data)) if short else struct.pack("!iQ", -1, len(data))
    left = memoryview(head + data)
    while left:
        _wait(end, select.POLLOUT, until)
        try:
            left = left[end.send(left[:CHUNK], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) :]
        except BlockingIOError:
            continue
        except ConnectionError as error:
            raise EOFError from error


def receive_frame(end: socket.socket, until: float, largest: int) -> bytes:
    """Receive one frame of at most `largest` bytes before the monotonic clock shows `until`.

    Raises TimeoutError, TooLargeError, or EOFError if the other end is gone.
    """
    (length,) = struct.unpack("!i", _take(end, 4, until))
    if not 0 <= length <= largest:
        raise TooLargeError(f"an answer of more than {largest} bytes")
    return _take(end, length, until)


def refuse_unasked(end: socket.socket) -> None:
    """Raise TooLargeError if something was sent that nobody waits for."""
    if not _is_ready(end, select.POLLIN, 0):
        return
    try:
        if end.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            raise TooLargeError("something that nobody asked for")
    except (BlockingIOError, ConnectionError):
        return


def _take(end: socket.socket, count: int, until: float) -> bytes:
    taken = bytearray()
    while len(taken) < count:
        _wait(end, select.POLLIN, until)
        try:
            part = end.recv(min(CHUNK, count - len(taken)), socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        except ConnectionError as error:
            raise EOFError from error
        if not part:
            raise EOFError
        taken += part
    return bytes(taken)


def _wait(end: socket.socket, event: int, until: float) -> None:
    left = until - time.monotonic()
    if left <= 0 or not _is_ready(end, event, left):
        raise TimeoutError


def _is_ready(end: socket.socket, event: int, seconds: float) -> bool:
    ready = select.poll()
    ready.register(end, event)
    return bool(ready.poll(1000 * seconds))
