"""`course mine`: what is in the module, and what is not and why."""

import runpy
from pathlib import Path

import pytest
import torch

from autograder.catalogue import exercises
from autograder.cli import BAD_USAGE, OK, main
from autograder.course import Course
from autograder.editions.notebook import instructor_notebook, write
from autograder.mine import gather as gathering
from autograder.mine.gather import gather
from autograder.usage import UsageError

ROOT = Path(__file__).parents[2]
SOFTMAX = """\
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
WRONG = "def causal_mask(n_q, n_k, device='cpu'):\n    return torch.ones(n_q, n_k).bool()"
MASKED = """\
def masked_softmax(scores, mask):
    seen = scores.masked_fill(~mask, -math.inf)
    return softmax(seen).masked_fill(~mask, 0.0)
"""
TEXT = '''\
def note():
    return """one
two"""
'''


def quiet(_: str) -> None:
    pass


@pytest.fixture
def solved(written):
    written("02_scaled_dot_product", "import torch", SOFTMAX)
    head = "import math\nimport torch\nfrom solutions.softmax import softmax"
    return written("03_masking", head, WRONG, MASKED)


def test_what_passes_is_in_the_module_and_works(solved, tmp_path):
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert [one.answer.name for one in found.passed] == ["softmax", "masked_softmax"]
    mine = runpy.run_path(str(tmp_path / "mine.py"))
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(mine["softmax"](x), torch.softmax(x, -1))
    assert mine["masked_softmax"](x, x > 9).abs().max() == 0


def test_what_does_not_pass_is_named_with_its_verdict(solved, tmp_path):
    why = gather(tmp_path, tmp_path / "mine.py", quiet).why
    assert why["causal_mask"].startswith("wrong, ")
    assert why["padding_mask"] == "not answered"
    assert "softmax" not in why


def test_an_answer_that_leans_on_one_that_is_not_there_gets_the_course_s(written, tmp_path):
    lean = "def masked_attention(q, k, v, mask=None):\n    s = q @ k.mT / q.shape[-1] ** 0.5\n"
    lean += "    m = torch.ones_like(s).bool() if mask is None else mask\n"
    written("03_masking", "import torch", lean + "    return masked_softmax(s, m) @ v")
    gather(tmp_path, tmp_path / "mine.py", quiet)
    text = (tmp_path / "mine.py").read_text()
    assert "from solutions.masked import masked_softmax" in text
    assert "masked_attention = own(_masked_attention)" in text


def test_helpers_of_the_same_name_do_not_meet(written, tmp_path):
    one = "def top(x, dim): return x.amax(dim, keepdim=True)\n"
    one += SOFTMAX.replace("x.amax(dim, keepdim=True)", "top(x, dim)")
    two = "def top(mask): return ~mask\n"
    two += MASKED.replace("~mask, -math", "top(mask), -math")
    written("02_scaled_dot_product", one)
    written("03_masking", "import math\nfrom solutions.softmax import softmax", two)
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert [one.answer.name for one in found.passed] == ["softmax", "masked_softmax"]


def test_text_inside_strings_is_kept(written, tmp_path):
    written(
        "02_scaled_dot_product",
        TEXT + SOFTMAX.replace("    e =", "    softmax.note = note()\n    e ="),
    )
    gather(tmp_path, tmp_path / "mine.py", quiet)
    softmax = runpy.run_path(str(tmp_path / "mine.py"))["softmax"]
    softmax(torch.ones(2))
    assert '"""one\ntwo"""' in (tmp_path / "mine.py").read_text()


def test_an_answer_whose_code_cannot_run_is_left_out_alone(written, tmp_path):
    bad = "import no_such_module\n\ndef product_moments(*a): return no_such_module.f(*a)"
    written("02_scaled_dot_product", bad, SOFTMAX)
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert [one.answer.name for one in found.passed] == ["softmax"]
    assert "no_such_module" in found.why["product_moments"]


def test_a_second_time_only_what_changed_is_checked(solved, tmp_path, monkeypatch):
    gather(tmp_path, tmp_path / "mine.py", quiet)
    before = (tmp_path / "mine.py").read_text()
    checked = []
    check = gathering.check
    monkeypatch.setattr(gathering, "check", lambda a, n: checked.append(n) or check(a, n))
    gather(tmp_path, tmp_path / "mine.py", quiet)
    assert checked == ["causal_mask"]
    assert (tmp_path / "mine.py").read_text() == before


def test_when_interrupted_it_keeps_what_has_passed(solved, tmp_path, monkeypatch):
    def stop(line: str) -> None:
        if line.startswith("causal_mask"):
            raise KeyboardInterrupt("stopped here")

    with pytest.raises(KeyboardInterrupt, match="stopped here"):
        gather(tmp_path, tmp_path / "mine.py", stop)
    text = (tmp_path / "mine.py").read_text()
    assert "softmax = own(_softmax)" in text
    assert "masked_softmax" not in text


def test_a_file_that_is_not_ours_is_not_written_over(solved, tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="was not made by `course mine`"):
        gather(tmp_path, tmp_path / "mine.py", quiet)
    assert (tmp_path / "mine.py").read_text() == "x = 1\n"


def test_the_newer_of_two_notebooks_counts_and_the_other_is_named(solved, written, tmp_path):
    copy = written("03_masking_copy", "import torch", WRONG)
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert len(found.notes) == 1
    assert "there is a newer notebook of 03_masking" in found.notes[0]
    assert str(solved) in found.notes[0] or str(copy) in found.notes[0]


def test_the_command(solved, tmp_path, capsys):
    assert main(["mine", str(tmp_path)]) == OK
    out = capsys.readouterr().out
    assert "  softmax                         yours\n" in out
    assert "  causal_mask                     wrong, " in out
    assert f"2 answers are in {tmp_path / 'mine.py'}" in out


def test_a_folder_without_answers_is_bad_usage(tmp_path, capsys):
    assert main(["mine", str(tmp_path)]) == BAD_USAGE
    assert "no notebook under" in capsys.readouterr().err
    assert main(["mine", str(tmp_path / "none")]) == BAD_USAGE


def test_what_is_forbidden_is_not_taken(written, tmp_path):
    cheat = "def softmax(x, dim=-1):\n    return torch.softmax(x, dim)"
    written("02_scaled_dot_product", "import torch", cheat)
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert found.passed == []
    assert found.why["softmax"].startswith("forbidden")


@pytest.mark.slow
def test_the_course_s_own_notebooks_give_every_answer(tmp_path):
    """Whatever else stands in a chapter, its answers are cut out of it whole."""
    for chapter in Course(ROOT).chapters():
        notebook = instructor_notebook(Course(ROOT).text(chapter), "https://example.org", "main")
        write(notebook, tmp_path / f"{chapter}.ipynb")
    found = gather(tmp_path, tmp_path / "mine.py", quiet)
    assert found.why == {}
    assert [one.answer.name for one in found.passed] == [*exercises()]
