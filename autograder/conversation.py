"""The judge talks with a session: cells to run, answers to use. What comes back is data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import torch

from autograder.faults import Fault, FaultKind, SessionEnded
from autograder.frames import LARGEST, FrameError, as_reply, decode, encode, reply_data
from autograder.limits import Limits
from autograder.outputs import Output, clean
from autograder.wire import Data, Reply

AT_FULL_LENGTH = 6  # so many of the requests sent together may take all of their time

T = TypeVar("T")
Help = Callable[[Data], Reply]  # a call of the course's version of an exercise -> its reply


class Session(Protocol):
    """A process with student code, from outside."""

    def exchange(self, message: bytes, seconds: float, largest: int) -> bytes:
        """Send one frame and wait for one. Raises SessionEnded."""

    def end(self) -> None:
        """Make an end of it and of all that it started."""


@dataclass
class Conversation:
    """One session, asked one thing after another; ended tells how, once it is over."""

    session: Session
    limits: Limits
    ended: SessionEnded | None = None
    number: int = 0  # of the last question: an answer names it, so that no old one is taken

    def run(self, source: str) -> list[Output]:
        """Run a cell and return what it shows. Raises SessionEnded."""
        seconds = self.limits.cell
        answer = self._say({"do": "cell", "source": source, "seconds": seconds}, seconds)
        return clean(answer.get("outputs"))

    def look(self, name: str) -> str:
        """Say what a name stands for: "function", "class", a type's name, or "missing"."""
        kind = self._say({"do": "look", "name": name}, self.limits.request).get("kind")
        return kind[:100] if isinstance(kind, str) else "missing"

    def ask(
        self, name: str, requests: bytes, count: int, standins: Sequence[str], help_: Help
    ) -> list[Reply]:
        """Use an answer for so many requests, written as one frame, and give the replies.

        There are fewer replies where one ended it all; if the session ends meanwhile, that is the
        only one.

        standins  exercises whose course version takes the place of the notebook's own
        help_     computes them, here
        """
        packed = torch.frombuffer(bytearray(requests), dtype=torch.uint8)
        message = {"do": "ask", "name": name, "standins": list(standins), "requests": packed}
        seconds = self.limits.request * min(count, AT_FULL_LENGTH)
        try:
            return self._asked(message, time.monotonic() + seconds, help_)
        except SessionEnded as ended:
            return [Reply(fault=Fault(ended.kind, str(ended)))]

    def _asked(self, message: Data, until: float, help_: Help) -> list[Reply]:
        while True:
            answer = self._say(message, until - time.monotonic())
            if "call" not in answer:
                return self._read(_replies, answer.get("replies"))
            if time.monotonic() > until:
                raise self._over(FaultKind.TIME, "the time for this answer is over")
            message = reply_data(help_(answer))

    def _say(self, message: Data, seconds: float) -> dict[str, Data]:
        if self.ended:
            raise self.ended
        try:
            patience = max(0.0, seconds) + self.limits.grace
            self.number += 1
            numbered = encode({**message, "number": self.number})
            frame = self.session.exchange(numbered, patience, LARGEST)
        except SessionEnded as ended:
            self.ended = ended
            raise
        answer = self._read(decode, frame)
        return self._read(partial(_expected, self.number), answer)

    def _read(self, read: Callable[[Data], T], data: Data) -> T:
        """Read what came; bytes that are no answer end the session."""
        try:
            return read(data)
        except FrameError as error:
            raise self._over(FaultKind.OUTPUT, f"the answer cannot be read: {error}") from error

    def _over(self, kind: FaultKind, detail: str) -> SessionEnded:
        """Make an end of the session."""
        self.ended = SessionEnded(kind, detail)
        self.session.end()
        return self.ended


def _replies(data: Data) -> list[Reply]:
    if not isinstance(data, list):
        raise FrameError("replies come as a list")
    return [as_reply(one) for one in data]


def _expected(number: int, answer: Data) -> dict[str, Data]:
    if not isinstance(answer, dict) or answer.get("number") != number:
        raise FrameError("it is not the answer to what was asked")
    return answer
