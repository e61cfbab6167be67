"""What cells showed, as a stranger's process tells it -> valid notebook outputs of bounded size."""

from __future__ import annotations

import re
from typing import Any

from autograder.wire import Data

Output = dict[str, Any]

MOST = 60  # outputs of one cell
LONGEST = 1_100_000  # characters of one text
KIND = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}")


def clean(outputs: Data) -> list[Output]:
    """Keep the outputs that have the form of a notebook's; drop every other field and value."""
    if not isinstance(outputs, list):
        return []
    found = (_output(one) for one in outputs[:MOST] if isinstance(one, dict))
    return [one for one in found if one]


def _output(one: dict[str, Data]) -> Output | None:
    kind = one.get("output_type")
    if kind == "stream":
        name = "stderr" if one.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(one.get("text"))}
    if kind == "error":
        lines = one.get("traceback")
        told = [_text(line) for line in lines[:100]] if isinstance(lines, list) else []
        names = {key: _text(one.get(key))[:1000] for key in ("ename", "evalue")}
        return {"output_type": "error", **names, "traceback": told}
    if kind in ("display_data", "execute_result"):
        shown: Output = {"output_type": kind, "data": _bundle(one.get("data")), "metadata": {}}
        return shown | ({"execution_count": None} if kind == "execute_result" else {})
    return None


def _bundle(data: Data) -> dict[str, str]:
    entries = data.items() if isinstance(data, dict) else ()
    return {kind: _text(value) for kind, value in entries if KIND.fullmatch(kind)}


def _text(value: Data) -> str:
    """Keep text, without half surrogate pairs, which no file takes."""
    text = value[:LONGEST] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode()
