"""What a student calls, and what it shows."""

import functools
import json
import pickle
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack

import solutions.softmax
from autograder import Score, check
from autograder.catalogue import UnknownExercise, exercise, exercises, of_chapter
from autograder.checking import SEED_VARIABLE
from autograder.judge import judge
from autograder.perform import PRINTED_CHARACTERS, perform
from autograder.report.html import as_html
from autograder.report.text import WIDTH, as_text
from autograder.score import MIME
from autograder.verdict import Finding, Report, Verdict
from solutions.heads import MultiHeadAttention


def softmax(x, dim=-1):
    weights = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return weights / weights.sum(dim=dim, keepdim=True)


def test_a_right_answer_gets_its_points_by_its_own_name():
    assert check(softmax) == 4


def test_an_answer_of_another_name_is_checked_by_the_exercises():
    assert check(lambda x, dim=-1: softmax(x, dim), "softmax") == 4


def test_an_unknown_name_gives_the_nearest_and_no_points():
    def sofmax(x):
        return x

    score = check(sofmax)
    assert score == 0
    assert score.report.diagnosis.startswith("There is no exercise `sofmax`. Nearest: softmax")


@pytest.mark.parametrize("answer", [3, None, object(), [], functools.partial(softmax)])
def test_what_has_no_name_is_no_exercise_and_no_crash(answer):
    score = check(answer)
    assert (score, score.report.verdict) == (0, Verdict.NOT_ANSWERED)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("softmax", "Pass the function itself, without quotes: check(softmax)."),
        (torch.ones(2), "softmax is to be a function; what was given is a Tensor."),
        (None, "softmax is to be a function; what was given is a NoneType."),
        (type("softmax", (), {}), "softmax is to be a function; what was given is a class."),
    ],
)
def test_what_is_no_function_is_told_what_it_is(answer, message):
    score = check(answer, "softmax")
    assert (score, score.report.verdict) == (0, Verdict.WRONG)
    assert score.report.diagnosis.startswith(message)


@pytest.mark.parametrize(
    "answer", [solutions.softmax.softmax, functools.partial(solutions.softmax.softmax, dim=-1)]
)
def test_the_courses_own_answer_is_refused(answer):
    score = check(answer, "softmax")
    assert (score, score.report.verdict) == (0, Verdict.FORBIDDEN)
    assert "the course's own answer, imported" in score.report.diagnosis


def test_a_partial_of_an_answer_is_an_answer():
    assert check(functools.partial(softmax), "softmax") == 4


def test_the_seed_comes_from_the_argument_or_from_the_course(monkeypatch):
    public = check(softmax).report.findings[0].inputs
    assert check(softmax, seed="s").report.findings[0].inputs != public
    monkeypatch.setenv(SEED_VARIABLE, "s")
    seeded = check(softmax).report.findings[0].inputs
    assert seeded == check(softmax, seed="s").report.findings[0].inputs != public


def test_the_catalogue_knows_its_exercises():
    assert exercise("softmax").id == "softmax"
    assert of_chapter("02_scaled_dot_product")[1].id == "softmax"
    assert {one.chapter for one in of_chapter("03_masking")} == {"03_masking"}
    assert of_chapter("99_nothing") == []
    with pytest.raises(UnknownExercise, match="Nearest: attention_weights"):
        exercise("attention_weigths")


def test_two_exercises_of_one_name_are_refused(monkeypatch):
    module = sys.modules["autograder.exercises.chapter_02"]
    monkeypatch.setattr(module, "ORDER", ("softmax", "softmax"))
    with pytest.raises(ValueError, match="two exercises are called softmax"):
        exercises.__wrapped__()


def test_importing_the_package_loads_no_exercise():
    code = "import sys, autograder; print(*(f'{m}' in sys.modules for m in ('torch', 'numpy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sys.modules["autograder"].nothing


# The score

REPORT = Report(
    "softmax",
    Verdict.WRONG,
    2.5,
    4.0,
    "Likely cause: <script>alert(1)</script> & more",
    (
        Finding("rows sum to 1", True, "x (B, L) = (2, 3)"),
        Finding("<b>large</b> scores", False, "x & y", "<script>alert('x')</script> came back"),
    ),
)


def test_a_score_is_a_number():
    score = Score(REPORT)
    assert repr(score) == "2.5"
    assert score + 1 == 3.5
    assert sum([score, score]) == 5
    assert type(score * 2) is float
    assert f"{score:.1f}" == "2.5"
    assert max(score, 3) == 3
    assert isinstance(score, float)


def test_print_shows_the_table(capsys):
    print(Score(REPORT))
    shown = capsys.readouterr().out
    assert shown.startswith("softmax")
    assert "2.5 of 4 points" in shown.splitlines()[0]
    assert "  yes  rows sum to 1" in shown
    assert "  no   <b>large</b> scores" in shown
    assert "<script>alert('x')</script> came back" in shown
    assert "Likely cause: <script>" in shown


@pytest.mark.parametrize("name", exercises())
def test_no_line_of_text_is_wider_than_a_terminal(name):
    def answer(*args, **kwargs):
        return None

    nothing = type("Nothing", (), {"__call__": answer})
    report = check(nothing if exercise(name).is_class else answer, name).report
    assert report.findings
    assert max(len(line) for line in as_text(report).splitlines()) <= WIDTH


def test_jupyter_gets_number_table_and_record():
    bundle = Score(REPORT)._repr_mimebundle_()
    assert bundle["text/plain"] == "2.5"
    assert bundle["text/html"] == as_html(REPORT)
    assert bundle[MIME] == REPORT.as_json() == json.loads(json.dumps(REPORT.as_json()))


def test_the_record_says_everything():
    record = REPORT.as_json()
    assert [*record] == ["id", "verdict", "score", "max_score", "diagnosis", "cases", "printed"]
    assert record["verdict"] == "wrong"
    assert record["cases"][0] == {
        "behaviour": "rows sum to 1",
        "passed": True,
        "message": "",
        "inputs": "x (B, L) = (2, 3)",
    }


def test_html_holds_no_markup_of_an_answer():
    html = as_html(REPORT)
    for text in ("<script", "<b>large", "x & y", "alert('"):
        assert text not in html
    for text in ("&lt;script&gt;alert(1)", "&lt;b&gt;large", "x &amp; y", "2.5 of 4 points"):
        assert text in html


def test_html_escapes_passed_rows_and_the_name_too():
    html = as_html(Report("<i>", Verdict.PASS, 1, 1, "", (Finding("a", True, "<u>"),)))
    assert "<i>" not in html
    assert "<u>" not in html


def test_an_answers_own_words_reach_the_page_escaped():
    def answer(x, dim=-1):
        raise ValueError("<script>alert(1)</script>")

    html = Score(check(answer, "softmax").report)._repr_mimebundle_()["text/html"]
    assert "ValueError" in html
    assert "<script" not in html


def test_a_score_can_be_copied():
    score = check(softmax)
    assert float(pickle.loads(pickle.dumps(float(score)))) == 4


def test_what_the_code_prints_is_shown_but_not_written(capsys):
    def softmax(x, dim=-1):
        print("shape", tuple(x.shape))
        return x.softmax(dim)

    report = judge(exercise("softmax"), partial(perform, softmax))
    assert report.printed.startswith("shape (")
    assert "Your code printed:\n    shape (" in as_text(report)
    assert "<pre>shape (" in as_html(report)
    assert capsys.readouterr() == ("", "")


def test_only_the_beginning_of_a_flood_is_kept():
    def softmax(x, dim=-1):
        for _ in range(10_000):
            print("again and again")
        return x

    assert len(judge(exercise("softmax"), partial(perform, softmax)).printed) == PRINTED_CHARACTERS


def test_a_softmax_that_overflows_loses_more_than_a_third():
    def unsafe(x, dim=-1):
        return x.exp() / x.exp().sum(dim, keepdim=True)

    report = judge(exercise("softmax"), partial(perform, unsafe))
    assert 0 < report.score < report.max_score * 2 / 3


def test_one_small_fault_does_not_round_up_to_full_marks():
    first, *rest = exercise("softmax").cases
    heavy = replace(exercise("softmax"), points=1, cases=(replace(first, weight=1000.0), *rest))
    report = judge(heavy, partial(perform, lambda x, dim=-1: softmax(x.float(), dim)))
    assert report.verdict == Verdict.WRONG
    assert report.score == 0.75


def test_an_answer_without_a_name_is_asked_for_one():
    score = check(lambda x, dim=-1: x)
    assert score == 0
    assert "check(answer, " in str(score)
    assert "not what it returns" in str(check(torch.ones(2)))
    assert "Check the class itself" in str(check(MultiHeadAttention(4, 2)))
    assert check(lambda x, dim=-1: x, "softmax").report.exercise == "softmax"


NAMED = "softmax = {}\nfrom autograder import check\nscore = check(softmax)"
KINDS = {
    "a lambda": "lambda x, dim=-1: right(x, dim)",
    "a partial": "functools.partial(right)",
    "another name": "right",
}


@pytest.mark.parametrize("bound", KINDS.values(), ids=KINDS)
def test_an_answer_is_known_by_the_name_that_it_is_bound_to(bound):
    at_hand = {"right": softmax, "functools": functools, "__name__": "__main__"}
    exec(NAMED.format(bound), at_hand)
    assert at_hand["score"] == 4


CHAIN = """
import math
import torch

def softmax(x, dim=-1):
    {softmax}

def attention_weights(q, k):
    return softmax(q @ k.mT / math.sqrt(q.shape[-1])){after}
"""


def weights_report(softmax_body, after=""):
    at_hand = {"__name__": "a_notebook"}
    exec(CHAIN.format(softmax=softmax_body, after=after), at_hand)
    before = dict(at_hand)
    report = check(at_hand["attention_weights"]).report
    assert at_hand == before, "the student's functions are put back"
    return report


@pytest.mark.parametrize(
    "broken", ["raise NotImplementedError()", "return x / x.sum(dim, keepdim=True)", "1 / 0"]
)
def test_a_right_answer_does_not_pay_for_a_wrong_one_that_it_calls(broken):
    report = weights_report(broken)
    assert report.verdict == Verdict.PASS
    assert report.diagnosis.startswith("Judged with the course's own `softmax`; with yours it gets")


def test_a_wrong_answer_pays_for_itself_whatever_it_calls():
    report = weights_report("return x.softmax(dim)", after=" / 2")
    assert report.verdict == Verdict.WRONG
    assert "Judged with" not in report.diagnosis


def test_of_two_wrong_answers_each_pays_once():
    report = weights_report("return x", after=" * 0.5")
    assert report.verdict == Verdict.WRONG
    assert report.score < report.max_score


def test_a_forbidden_use_in_an_earlier_answer_costs_that_one_alone():
    at_hand = {"__name__": "a_notebook"}
    ready = "torch.nn.functional.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2]))"
    exec(f"import torch\ndef attention_weights(q, k):\n    return {ready}\n{VALUES}", at_hand)
    assert check(at_hand["attention_weights"]).report.verdict == Verdict.FORBIDDEN
    report = check(at_hand["scaled_dot_product_attention"]).report
    assert report.verdict == Verdict.PASS
    assert "with yours it gets 0 points" in report.diagnosis


VALUES = "def scaled_dot_product_attention(q, k, v):\n    return attention_weights(q, k) @ v\n"


def test_a_later_exercise_is_no_help():
    at_hand = {"__name__": "a_notebook"}
    source = """
def softmax(x, dim=-1):
    n = x.shape[dim]
    return attention_weights(x.movedim(dim, -1) * n ** 0.5, torch.eye(n)).movedim(-1, dim)
def attention_weights(q, k):
    raise NotImplementedError
"""
    exec(f"import torch\n{source}", at_hand)
    assert check(at_hand["softmax"]) == 0


HIDDEN = {
    "a name that is put together": "getattr(torch, 'soft' + 'max')(x, dim)",
    "of the tensor": "getattr(x, ''.join(['soft', 'max']))(dim)",
    "of the directory": "getattr(F, next(n for n in dir(F) if n == 'soft' + 'max'))(x, dim)",
    "in a text that is put together": "eval('torch.soft' + 'max(x, dim)')",
    "another function's inside": "torch.distributions.Categorical(logits=x.movedim(dim, -1)).probs",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
def test_a_forbidden_function_under_a_disguise_is_found_when_it_runs(body):
    at_hand = {"__name__": "a_notebook"}
    head = "import torch\nimport torch.nn.functional as F\n"
    exec(f"{head}def softmax(x, dim=-1):\n    return {body}\n", at_hand)
    report = check(at_hand["softmax"]).report
    assert (report.verdict, report.score) == (Verdict.FORBIDDEN, 0)
    assert "which already does what you are asked to write" in report.diagnosis


def test_a_stub_that_is_called_is_named_as_the_one_that_is_not_written():
    def helper(x):
        raise NotImplementedError

    def softmax(x, dim=-1):
        return helper(x)

    report = check(softmax).report
    assert report.verdict == Verdict.EXCEPTION
    assert report.findings[0].message.startswith("it calls `helper`, which is not written yet")


def test_the_deepest_line_of_the_students_own_is_quoted():
    def softmax(x, dim=-1):
        return weights_of(x)

    report = check(softmax).report
    assert "in the line `return undefined_name" in report.findings[0].message


def weights_of(x):
    return undefined_name  # noqa: F821 - that is the point


def test_the_cause_stands_under_the_first_failure_and_repeats_are_short():
    failed = [Finding(f"behaviour {i}", False, "x (B,) = (2,)", "it broke") for i in (1, 2)]
    text = as_text(Report("f", Verdict.WRONG, 0, 1, "Likely cause: this.", tuple(failed)))
    lines = [line.strip() for line in text.splitlines()]
    assert lines.index("Likely cause: this.") < lines.index("no   behaviour 2")
    assert lines.count("it broke") == 1
    assert "the same" in lines


@contextmanager
def default_device(name):
    torch.set_default_device(name)
    try:
        yield
    finally:
        torch.set_default_device(None)


@contextmanager
def default_dtype(dtype):
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


SETTINGS = {
    "another default device": lambda: default_device("meta"),
    "another default dtype": lambda: default_dtype(torch.float64),
    "half as default": lambda: default_dtype(torch.bfloat16),
    "inference mode": torch.inference_mode,
    "no gradients": torch.no_grad,
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("spec", exercises().values(), ids=lambda one: one.id)
def test_what_a_notebook_sets_for_itself_does_not_reach_the_judge(setting, spec):
    with setting():
        report = judge(spec, partial(perform, spec.solution))
    assert report.verdict == Verdict.PASS, report.diagnosis


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_a_default_device_that_an_answer_sets_does_not_outlive_it(device):
    def sets(x, dim=-1):
        torch.set_default_device(device)
        return softmax(x, dim)

    modes = len(_get_current_function_mode_stack())
    check(sets, "softmax")
    assert torch.zeros(1).device.type == "cpu"
    assert len(_get_current_function_mode_stack()) == modes


@pytest.mark.parametrize("almost", [1e-7, 1e-12])
def test_a_score_of_minus_infinity_gets_exactly_zero(almost):
    score = check(lambda x, dim=-1: softmax(x, dim) + almost, "softmax")
    failed = [one.behaviour for one in score.report.findings if not one.passed]
    assert failed == ["a score of -inf gets weight 0"]


def test_the_example_in_the_readme_is_what_a_check_says():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```\nsoftmax ")[1].split("```")[0].splitlines()
    spec = exercise("softmax")
    no_shift = next(one for one in spec.mistakes if one.__name__ == "no_shift")
    said = as_text(judge(spec, partial(perform, no_shift))).splitlines()
    assert said[0] == f"softmax {shown[0]}"
    assert [line for line in shown[1:] if line not in said] == ["  ..."]
