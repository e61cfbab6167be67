"""A notebook's cells, run in a shell of their own; what they show is kept, up to a size."""

from __future__ import annotations

import base64
import io
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.core.pylabtools import select_figure_formats
from matplotlib_inline.backend_inline import configure_inline_support
from traitlets.config import Config

from autograder.limits import OutOfTime, deadline

HEAD, TAIL = 20_000, 10_000  # characters kept of one stream of one cell
LARGEST_ENTRY = 1_000_000  # characters of one MIME entry, pictures in base64
LARGEST_CELL = 2_000_000  # characters of all outputs of one cell
MOST_OUTPUTS = 50  # of one cell
MOST_LINES, LONGEST_LINE = 60, 500  # of a traceback

Output = dict[str, Any]
BACKEND = "module://matplotlib_inline.backend_inline"


class _Stream(io.TextIOBase):
    """Keeps the beginning and the end of what is written, however much that is."""

    def __init__(self) -> None:
        self.head, self.tail, self.dropped = "", "", 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        room = HEAD - len(self.head)
        if room > 0:
            self.head += text[:room]
        rest = self.tail + text[max(room, 0) :]
        self.dropped += max(0, len(rest) - TAIL)
        self.tail = rest[-TAIL:]
        return len(text)

    def text(self) -> str:
        if not self.dropped:
            return self.head + self.tail
        return f"{self.head}\n[... {self.dropped} characters left out ...]\n{self.tail}"


class _Outputs:
    """What the running cell has shown, in order."""

    def __init__(self) -> None:
        self.shown: list[Output] = []
        self.streams: dict[int, _Stream] = {}
        self.size = self.dropped = 0

    def stream(self, name: str) -> _Stream:
        """Give the stream to write to: the last output, if it is one of this name."""
        at = len(self.shown) - 1
        if at < 0 or self.shown[at].get("name") != name:
            at = self.add({"output_type": "stream", "name": name, "text": ""})
        return self.streams.setdefault(at, _Stream()) if at >= 0 else _Stream()

    def add(self, output: Output) -> int:
        self.size += sum(map(len, output.get("data", {}).values()))
        if len(self.shown) >= MOST_OUTPUTS or self.size > LARGEST_CELL:
            self.dropped += 1
            return -1
        self.shown.append(output)
        return len(self.shown) - 1

    def take(self) -> list[Output]:
        """Give what was shown and begin anew."""
        for at, stream in self.streams.items():
            self.shown[at]["text"] = stream.text()
        shown, dropped = self.shown, self.dropped
        self.__init__()  # type: ignore[misc]
        if dropped:
            text = f"[{dropped} more outputs left out]\n"
            shown.append({"output_type": "stream", "name": "stderr", "text": text})
        return shown


class _To(io.TextIOBase):
    """sys.stdout or sys.stderr while a cell runs."""

    def __init__(self, outputs: _Outputs, name: str) -> None:
        self.outputs, self.name = outputs, name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return self.outputs.stream(self.name).write(text)


class _Publisher(DisplayPublisher):
    def publish(self, data: Any, *_: Any, **__: Any) -> None:
        """Keep what `display` shows."""
        kept = self.shell.collected
        kept.add({"output_type": "display_data", "data": _bundle(data), "metadata": {}})

    def clear_output(self, *_: Any, **__: Any) -> None:
        """Forget what the cell has shown."""
        self.shell.collected.take()


class _Hook(DisplayHook):
    def start_displayhook(self) -> None:
        """Print no "Out[1]: " before the value."""

    def write_output_prompt(self) -> None:
        """Print no "Out[1]: " before the value."""

    def write_format_data(self, format_dict: Any, *_: Any, **__: Any) -> None:
        """Keep the value of the cell."""
        kept = self.shell.collected
        number = self.shell.execution_count
        result = {"output_type": "execute_result", "metadata": {}, "execution_count": number}
        kept.add({**result, "data": _bundle(format_dict)})

    def finish_displayhook(self) -> None:
        """Print no line after the value."""


def _bundle(data: Any) -> dict[str, Any]:
    """Keep the entries of a MIME bundle that are text and not too long; bytes become base64."""
    kept = {}
    for kind, value in dict(data).items():
        text = base64.b64encode(value).decode() if isinstance(value, bytes) else value
        if isinstance(text, str):
            fits = len(text) <= LARGEST_ENTRY
            kept[str(kind)] = text if fits else f"[{len(text)} characters left out]"
    return kept


class Shell(InteractiveShell):
    """IPython without a terminal, a history, or processes of its own."""

    displayhook_class = _Hook
    display_pub_class = _Publisher

    def __init__(self, **settings: Any) -> None:
        """Begin with no outputs; the settings are IPython's."""
        self.collected = _Outputs()
        self.seconds = 0.0
        super().__init__(**settings)  # type: ignore[no-untyped-call]

    def enable_gui(self, *_: Any) -> None:
        """Take `%matplotlib` without a window system."""

    def ask_exit(self) -> None:
        """End the cell, as `exit()` does; the notebook goes on."""
        raise SystemExit

    def system(self, cmd: str) -> None:
        """Do not run `!command`: say so and go on."""
        self.user_ns["_exit_code"] = 1
        print(f"not run while grading: !{cmd}", file=sys.stderr)

    def getoutput(self, cmd: str, *_: Any, **__: Any) -> list[str]:
        """Do not run `x = !command`: say so and give no lines."""
        self.system(cmd)
        return []

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        if etype is OutOfTime:
            return self.add_error(etype.__name__, f"stopped after {self.seconds:g} seconds")
        lines = "\n".join(map(str, stb)).splitlines()[-MOST_LINES:]
        short = [line[:LONGEST_LINE] for line in lines]
        return self.add_error(etype.__name__, _words_of(evalue), short)

    def add_error(self, name: str, text: str, traceback: Sequence[str] = ()) -> None:
        """Keep an error as a notebook stores it."""
        error = {"ename": name, "evalue": text, "traceback": [*traceback] or [f"{name}: {text}"]}
        self.collected.add({"output_type": "error", **error})


def _words_of(error: Any) -> str:
    try:
        return str(error)[:1000]
    except Exception:
        return "its message cannot be read"


_ready: list[Shell] = []


def make_ready() -> None:
    """Make the next shell now, before a fork."""
    _ready[:] = [new_shell()]


def fresh_shell() -> Shell:
    """Give a shell in which nothing has run: the one that was made ready, or a new one."""
    return _ready.pop() if _ready else new_shell()


def new_shell() -> Shell:
    """Make a shell whose files, if it writes any, go to a folder of its own."""
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    make_profile: Any = ProfileDir.create_profile_dir  # IPython leaves it untyped
    shell = Shell(config=settings, profile_dir=make_profile(tempfile.mkdtemp()))
    InteractiveShell._instance = shell  # type: ignore[assignment]  # get_ipython() and display() look for it there
    for name in ("pip", "conda", "mamba", "micromamba", "uv"):
        shell.register_magic_function(_refused(shell, name), "line", name)
    configure_inline_support(shell, BACKEND)  # type: ignore[no-untyped-call]
    # matplotlib does this for the first shell of a process alone
    select_figure_formats(shell, {"png"}, bbox_inches="tight")  # type: ignore[no-untyped-call]
    return shell


def _refused(shell: Shell, name: str) -> Any:
    return lambda line: shell.system(f"{name} {line}")


def run_cell(shell: Shell, source: str, seconds: float) -> list[Output]:
    """Run one cell and give its outputs, as a notebook stores them; errors are outputs too."""
    shell.seconds = seconds
    with _catching(shell):
        try:
            with deadline(seconds):
                shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        except OutOfTime:  # it struck outside of the cell's own code
            shell.add_error("OutOfTime", f"stopped after {seconds:g} seconds")
    return shell.collected.take()


@contextmanager
def _catching(shell: Shell) -> Iterator[None]:
    out, err = (_To(shell.collected, name) for name in ("stdout", "stderr"))
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="To exit: use")
        yield
