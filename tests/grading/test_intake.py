"""Answers are found whatever happened to the notebook, and nothing submitted is trusted."""

import copy
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import Intake, normalise
from autograder.needed import needed_cells
from autograder.untrusted import RawCell, read_bytes

ANSWER = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"
OTHER = ANSWER.replace("x.exp()", "torch.exp(x)")
STUB = "def softmax(x, dim=-1):\n    raise NotImplementedError()"
CHECK = "from autograder import check\n\ncheck(softmax)"


def taken(ours: Any, *cells: RawCell) -> Intake:
    return normalise(cells, ours)


def code(source: str, *names: str) -> RawCell:
    return RawCell("code", source, names)


def sources(intake: Intake) -> list[str]:
    return [cell.source for cell in intake.notebook.cells]


def test_an_answer_is_found_by_its_id(ours: Any) -> None:
    intake = taken(ours, code(ANSWER, "softmax"), code(CHECK, "check-softmax"))
    assert intake.answers == {"softmax": ANSWER}
    assert not [note for note in intake.notes if note.startswith("answer of softmax")]


def test_an_answer_without_its_id_is_found_by_its_definition(ours: Any) -> None:
    intake = taken(ours, code("x = 1"), code(ANSWER))
    assert "answer of softmax found by its definition in cell 2: its id was gone" in intake.notes
    assert intake.answers["softmax"] == ANSWER


def test_a_stub_left_in_place_does_not_hide_the_answer(ours: Any) -> None:
    for cells in ([code(ANSWER), code(STUB, "softmax")], [code(STUB, "softmax"), code(ANSWER)]):
        intake = taken(ours, *cells)
        assert intake.answers["softmax"] == ANSWER
        assert STUB not in sources(intake)


def test_of_two_answers_the_last_counts_and_that_is_said(ours: Any) -> None:
    intake = taken(ours, code(OTHER), code(ANSWER, "softmax"))
    assert intake.answers["softmax"] == ANSWER
    assert "softmax is defined in cells 1, 2: the last one, cell 2, was graded" in intake.notes


def test_a_check_runs_where_the_student_left_it(ours: Any) -> None:
    intake = taken(ours, code(ANSWER, "softmax"), code("helper = 1"), code(CHECK, "check-softmax"))
    order = sources(intake)
    assert order.index(ANSWER) < order.index("helper = 1") < order.index(CHECK)


@pytest.mark.parametrize("before", [[], [code(CHECK, "check-softmax")]])
def test_a_check_that_is_gone_or_too_early_runs_right_after_the_answer(
    ours: Any, before: list[RawCell]
) -> None:
    order = sources(taken(ours, *before, code(ANSWER, "softmax"), code("helper = 1")))
    assert order.index(CHECK) == order.index(ANSWER) + 1


def test_a_submitted_check_cell_is_never_run(ours: Any) -> None:
    forged = "from IPython.display import display\ndisplay(4.0)"
    intake = taken(ours, code(ANSWER, "softmax"), code(forged, "check-softmax"))
    assert forged not in sources(intake)
    assert sources(intake).count(CHECK) == 1


def test_copied_check_cells_run_once(ours: Any) -> None:
    intake = taken(ours, code(ANSWER, "softmax"), code(CHECK, "check-softmax"), code(CHECK))
    assert sources(intake).count(CHECK) == 1
    assert "the check cell of softmax is there 2 times: one is run" in intake.notes


def test_every_check_is_there_even_for_an_empty_notebook(ours: Any) -> None:
    intake = taken(ours)
    checks = [c for c in intake.notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert len(checks) == 6
    assert "no answer of softmax was found" in intake.notes


def test_submitted_metadata_is_not_used(ours: Any) -> None:
    raw = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ANSWER)])
    raw.cells[0].metadata["nbgrader"] = {"grade_id": "softmax", "points": 1000, "grade": True}
    intake = normalise(read_bytes(nbformat.writes(raw).encode()), ours)
    answer = next(cell for cell in intake.notebook.cells if cell.source == ANSWER)
    assert answer.metadata.nbgrader.grade is False
    assert "points" not in answer.metadata.nbgrader


def test_one_cell_may_hold_several_answers(ours: Any) -> None:
    both = f"{ANSWER}\n\n\ndef attention_weights(q, k):\n    return softmax(q @ k.mT)"
    intake = taken(ours, code(both))
    assert intake.answers["softmax"] == intake.answers["attention_weights"] == both
    assert sources(intake).count(both) == 1


def test_a_broken_answer_keeps_its_place(ours: Any) -> None:
    broken = "def softmax(x:\n    return x"
    assert taken(ours, code(broken, "softmax")).answers["softmax"] == broken
    assert taken(ours, code("1"), code(broken)).answers["softmax"] == broken


def test_a_deleted_set_up_cell_comes_back_if_it_is_needed(ours: Any) -> None:
    needed = taken(ours, code(OTHER, "softmax"))
    assert any("torch" in note and "put back" in note for note in needed.notes)
    assert "import torch" in sources(needed)[0]
    assert not any("import torch\n" in text for text in sources(taken(ours, code(ANSWER))))


def test_course_cells_that_only_draw_are_left_out(ours: Any, student: Any) -> None:
    cells = read_bytes(nbformat.writes(student).encode())
    ran = [cell for cell in normalise(cells, ours).notebook.cells if cell.cell_type == "code"]
    assert len(ran) < sum(cell.kind == "code" for cell in cells)


def test_the_given_notebook_needs_no_notes(ours: Any, student: Any) -> None:
    intake = normalise(read_bytes(nbformat.writes(student).encode()), ours)
    assert intake.notes == ()
    assert list(intake.answers) == [
        cell.metadata.nbgrader.grade_id
        for cell in student.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    ]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_mangled_notebook_keeps_all_checks_once(ours: Any, student: Any, data: Any) -> None:
    """Delete, copy, move and edit cells at random: the result is valid and has every check."""
    cells = read_bytes(nbformat.writes(student).encode())
    picked = data.draw(st.lists(st.sampled_from(cells), max_size=30))
    extra = [code(ANSWER), code(STUB), code("x = (")]
    added = data.draw(st.lists(st.sampled_from(extra), max_size=3))
    intake = normalise([*picked, *added], ours)
    nbformat.validate(intake.notebook)
    ids = [c.metadata.get("nbgrader", {}).get("grade_id") for c in intake.notebook.cells]
    checks = [name for name in ids if name and name.startswith("check-")]
    assert len(checks) == len(set(checks)) == 6
    for name, text in intake.answers.items():
        at = sources(intake).index(text)
        assert ids.index(f"check-{name}") > at


def test_ours_is_left_alone(ours: Any) -> None:
    before = copy.deepcopy(ours)
    taken(ours, code(ANSWER, "softmax"))
    assert ours == before


# Shapes that students and editors give a notebook

WEIGHTS = "def attention_weights(q, k):\n    return softmax(q @ k.mT)"


@pytest.mark.parametrize("gone", [True, False])
def test_a_check_waits_for_a_helper_that_stands_below_the_answer(ours: Any, gone: bool) -> None:
    answer = "def softmax(x, dim=-1):\n    return _shifted(x, dim)"
    helper = "def _shifted(x, dim):\n    return (x - x.amax(dim, keepdim=True)).softmax(dim)"
    check = [] if gone else [code(CHECK, "check-softmax")]
    intake = taken(ours, code(answer, "softmax"), *check, code("y = 1"), code(helper))
    order = sources(intake)
    assert order.index(CHECK) == order.index(helper) + 1
    assert any("softmax was checked after cell" in note for note in intake.notes)


def test_reordered_answers_wait_for_each_other(ours: Any) -> None:
    intake = taken(ours, code(WEIGHTS, "attention_weights"), code(ANSWER, "softmax"))
    order = sources(intake)
    assert order.index(ANSWER) < intake.checks["attention_weights"]


def test_a_function_cut_in_two_is_told(ours: Any) -> None:
    for head in ("def softmax(x, dim=-1):", 'def softmax(x, dim=-1):\n    """Words."""'):
        intake = taken(ours, code(head, "softmax"), code("    e = x.exp()\n    return e"))
        told = "softmax was cut in two: cell 2 begins with indented lines; join it to cell 1"
        assert told in intake.notes


def test_an_answer_in_a_text_cell_is_told(ours: Any) -> None:
    notes = taken(ours, RawCell("markdown", ANSWER, ("softmax",))).notes
    where = "cell 1 holds it but is a text cell: make it a code cell"
    assert f"no answer of softmax was found: {where}" in notes


def test_an_edited_check_cell_is_told(ours: Any) -> None:
    notes = taken(ours, code(ANSWER, "softmax"), code(CHECK + "\nx = 1", "check-softmax")).notes
    assert any(note.startswith("the check cell of softmax was edited: ours") for note in notes)


def test_an_answer_written_into_a_check_cell_is_graded(ours: Any) -> None:
    intake = taken(ours, code(STUB, "softmax"), code(ANSWER, "check-softmax"))
    assert intake.answers["softmax"] == ANSWER
    assert sources(intake).count(CHECK) == 1


def test_several_answers_in_one_cell_are_told(ours: Any) -> None:
    notes = taken(ours, code(f"{ANSWER}\n\n{WEIGHTS}")).notes
    assert "cell 1 holds several answers: softmax, attention_weights" in notes


def test_a_conflict_inside_a_cell_is_told_with_its_line(ours: Any) -> None:
    text = f"{ANSWER}\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> mine"
    notes = taken(ours, code(text, "softmax")).notes
    assert any("cell 1 holds a merge conflict, `<<<<<<< HEAD` in line 3" in n for n in notes)


def test_a_title_underlined_in_a_string_is_no_conflict(ours: Any) -> None:
    notes = taken(ours, code(f'"""\nA title\n=======\n"""\n{ANSWER}', "softmax")).notes
    assert not any("conflict" in note for note in notes)


def test_where_the_checks_are_is_known(ours: Any, student: Any) -> None:
    intake = normalise(read_bytes(nbformat.writes(student).encode()), ours)
    for exercise, place in intake.checks.items():
        assert intake.notebook.cells[place].id == f"check-{exercise}"
    assert len(intake.checks) == 6
    assert list(intake.checks.values()) == sorted(intake.checks.values())


# What one answer needs


def ran_for(intake: Intake, exercise: str) -> list[str]:
    return [intake.notebook.cells[i].source for i in needed_cells(intake.notebook.cells, exercise)]


def test_an_answer_needs_its_helpers_what_changes_them_and_what_sets_up(ours: Any) -> None:
    helper = "import math\n\ndef helper(x):\n    return math.exp(scale[0] * x)"
    wanted = ["%autoreload 2", "scale = [1.0]", "scale.append(2.0)", helper]
    answer = "def softmax(x, dim=-1):\n    return helper(x)"
    others = ["while True: pass", "print(1)", "other = 1", "1 +"]
    cells = [code(text) for pair in zip(wanted, others, strict=True) for text in pair]
    intake = taken(ours, *cells, code(answer, "softmax"), code("late = helper(1)"))
    assert ran_for(intake, "softmax") == [*wanted, answer]


def test_an_answer_needs_the_answers_that_it_calls(ours: Any) -> None:
    intake = taken(ours, code(ANSWER, "softmax"), code(WEIGHTS, "attention_weights"))
    assert ran_for(intake, "attention_weights") == [ANSWER, WEIGHTS]
    assert ran_for(intake, "softmax") == [ANSWER]


def test_an_answer_among_others_in_a_cell_is_found(ours: Any) -> None:
    both = f"{ANSWER}\n\n\n{WEIGHTS}"
    intake = taken(ours, code(both))
    assert ran_for(intake, "attention_weights") == ran_for(intake, "softmax") == [both]


def test_without_an_answer_nothing_is_needed(ours: Any) -> None:
    assert needed_cells(taken(ours, code("x = 1")).notebook.cells, "softmax") == []
