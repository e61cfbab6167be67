"""Frames over a socket whose other end is hostile."""

import socket
import threading
import time
from multiprocessing.connection import Connection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.exchange import TooLargeError, receive_frame, refuse_unasked, send_frame


@pytest.fixture
def line():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def soon(seconds=0.2):
    return time.monotonic() + seconds


@given(data=st.binary(max_size=2000), cuts=st.lists(st.integers(1, 50), max_size=5))
def test_a_frame_arrives_in_whatever_parts(data, cuts):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sent = len(data).to_bytes(4, "big") + data
        for cut in cuts:
            theirs.sendall(sent[:cut])
            sent = sent[cut:]
        theirs.sendall(sent)
        assert receive_frame(ours, soon(5), 2000) == data


@given(data=st.binary(max_size=100))
def test_any_bytes_end_in_a_frame_or_in_one_of_three_errors(data):
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(data)
        theirs.close()
        try:
            frame = receive_frame(ours, soon(5), 50)
        except (EOFError, TooLargeError):
            return
        assert data[: 4 + len(frame)] == len(frame).to_bytes(4, "big") + frame


@given(data=st.binary(max_size=30_000))
def test_the_frames_are_those_of_multiprocessing(data):
    ours, theirs = socket.socketpair()
    with ours, Connection(theirs.detach()) as connection:
        send_frame(ours, data, soon(5))
        assert connection.recv_bytes() == data
        connection.send_bytes(data)
        assert receive_frame(ours, soon(5), 30_000) == data


@pytest.mark.parametrize("sent", [b"", b"\0", b"\0\0\0\x05abcd"])
def test_what_never_comes_is_waited_for_until_the_time_is_over(sent, line):
    ours, theirs = line
    theirs.sendall(sent)
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"^$"):
        receive_frame(ours, soon(), 100)
    assert 0.15 < time.monotonic() - start < 2


def test_drops_do_not_stretch_the_time(line):
    ours, theirs = line
    theirs.sendall(b"\0\0\x10\0")
    over = threading.Event()

    def drip():
        while not over.wait(0.01):
            theirs.sendall(b"x")

    tap = threading.Thread(target=drip)
    tap.start()
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"^$"):
        receive_frame(ours, soon(), 1 << 20)
    over.set()
    tap.join()
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("head", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\x65"])
def test_a_length_beyond_the_bound_is_not_believed(head, line):
    ours, theirs = line
    theirs.sendall(head)
    with pytest.raises(TooLargeError, match="more than 100 bytes"):
        receive_frame(ours, soon(5), 100)


def test_nobody_who_reads_ends_in_time_and_one_who_left_at_once(line):
    ours, theirs = line
    with pytest.raises(TimeoutError, match=r"^$"):
        send_frame(ours, bytes(1 << 24), soon())
    theirs.close()
    with pytest.raises(EOFError, match=r"^$"):
        send_frame(ours, b"x", soon(5))
    with pytest.raises(EOFError, match=r"^$"):
        receive_frame(ours, soon(5), 10)


def test_what_was_not_asked_for_is_noticed(line):
    ours, theirs = line
    refuse_unasked(ours)
    theirs.sendall(b"x")
    with pytest.raises(TooLargeError, match="nobody asked for"):
        refuse_unasked(ours)
