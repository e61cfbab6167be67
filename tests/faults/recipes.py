"""Broken files that git cannot keep, or that are too large to keep: each is made when needed.

A function makes the file in a folder and returns its path. Its name ends in the outcome, as the
names of the files beside this one do; its docstring is in the message that must come.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

PLAIN = Path(__file__).with_name("plain__graded.ipynb")


def pipe__unreadable(folder: Path) -> Path:
    """not a file but a folder, pipe or device: hand in the .ipynb file itself"""
    os.mkfifo(folder / "hw.ipynb")
    return folder / "hw.ipynb"


def device__unreadable(folder: Path) -> Path:
    """not a file but a folder, pipe or device"""
    return Path("/dev/zero")


def folder_called_notebook__unreadable(folder: Path) -> Path:
    """not a file but a folder: hand in the .ipynb file itself"""
    (folder / "hw.ipynb").mkdir()
    return folder / "hw.ipynb"


def link__unreadable(folder: Path) -> Path:
    """it is a link to another file: hand in the file itself"""
    (folder / "hw.ipynb").symlink_to(PLAIN)
    return folder / "hw.ipynb"


def link_to_nowhere__unreadable(folder: Path) -> Path:
    """it is a link to another file"""
    (folder / "hw.ipynb").symlink_to(folder / "gone")
    return folder / "hw.ipynb"


def link_to_itself__unreadable(folder: Path) -> Path:
    """it is a link to another file"""
    (folder / "hw.ipynb").symlink_to(folder / "hw.ipynb")
    return folder / "hw.ipynb"


def missing__unreadable(folder: Path) -> Path:
    """the system does not let us read it (No such file or directory)"""
    return folder / "gone.ipynb"


def name_of_emoji_and_line_end__graded(folder: Path) -> Path:
    path = folder / "Zoë's\nhome work 🐉.ipynb"
    path.write_bytes(PLAIN.read_bytes())
    return path


def longest_name__graded(folder: Path) -> Path:
    path = folder / ("x" * 249 + ".ipynb")
    path.write_bytes(PLAIN.read_bytes())
    return path


def name_that_is_no_text__graded(folder: Path) -> Path:
    path = folder / os.fsdecode(b"caf\xe9.ipynb")
    path.write_bytes(PLAIN.read_bytes())
    return path


def _with(folder: Path, change: Callable[[dict[str, object]], None]) -> Path:
    notebook = json.loads(PLAIN.read_text(encoding="utf-8"))
    change(notebook)
    path = folder / "hw.ipynb"
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return path


def flood_of_60_mb__graded(folder: Path) -> Path:
    lines = ["still running\n"] * 3_000_000
    output = {"output_type": "stream", "name": "stdout", "text": lines}
    return _with(folder, lambda notebook: notebook["cells"][0].update(outputs=[output]))


def pictures_in_text_of_20_mb__graded(folder: Path) -> Path:
    pasted = {"image.png": {"image/png": "A" * 20_000_000}}
    cell = {"cell_type": "markdown", "metadata": {}, "source": "see", "attachments": pasted}
    return _with(folder, lambda notebook: notebook["cells"].append(cell))


def widgets_of_8_mb__graded(folder: Path) -> Path:
    state = {f"{number:032x}": {"state": {"value": 0.5}} for number in range(100_000)}
    return _with(folder, lambda notebook: notebook["metadata"].update(widgets={"s": state}))


def code_of_3_mb__unreadable(folder: Path) -> Path:
    """its code is 3 MB long, more than 2 MB: hand in less"""
    return _with(folder, lambda notebook: notebook["cells"][0].update(source="x = 1\n" * 500_000))


def cell_of_1_mb__graded(folder: Path) -> Path:
    """cell 2 is longer than 200,000 characters: what it defines was not looked for"""
    data = {"cell_type": "code", "metadata": {}, "source": "data = '" + "A" * 1_000_000 + "'"}
    return _with(folder, lambda notebook: notebook["cells"].insert(1, data))


def metadata_of_20_mb__unreadable(folder: Path) -> Path:
    """it is larger than 5 MB even without its outputs: hand in less"""
    return _with(folder, lambda notebook: notebook["metadata"].update(mine="A" * 20_000_000))


def ten_thousand_cells__unreadable(folder: Path) -> Path:
    """it has 10,002 cells: hand in at most 5,000"""
    cells = [{"cell_type": "code", "source": "1"}] * 10_000
    return _with(folder, lambda notebook: notebook["cells"].extend(cells))


def flood_cut_off__unreadable(folder: Path) -> Path:
    """the file was cut off: save the notebook and hand it in again"""
    path = flood_of_60_mb__graded(folder)
    os.truncate(path, 40_000_000)
    return path


def file_of_more_than_100_mb__unreadable(folder: Path) -> Path:
    """it is larger than 100 MB: clear its outputs"""
    path = folder / "hw.ipynb"
    path.touch()
    os.truncate(path, 200_000_000)
    return path


RECIPES = {
    name: make
    for name, make in list(globals().items())
    if "__" in name and not name.startswith("_")
}
