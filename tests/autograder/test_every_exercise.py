"""What every exercise of the catalogue must keep, whatever it is about."""

import ast
import doctest
import importlib
import inspect
import random
import re
import textwrap
import time
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch

import autograder.exercises
from autograder.catalogue import exercises
from autograder.compare import alike
from autograder.editions.source import BEGIN, END, answer, answer_lines, signature
from autograder.forbidden import use_in
from autograder.judge import PUBLIC_SEED, judge, trials, watching
from autograder.judge import drawn as kept_draws
from autograder.perform import perform
from autograder.spec import Exercise, Trial, hint_of
from autograder.verdict import Report, Verdict
from autograder.wire import Reply, map_request

FOLDERS = sorted(Path(*autograder.exercises.__path__).glob("chapter_*"))
SEEDS = (PUBLIC_SEED, "autumn", "winter", "spring", "summer")
TRIVIAL = 12  # shorter lines of an answer can stand in a hint by chance
CERTAIN = "Likely cause: "

every_exercise = pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
right = [(e, a) for e in exercises().values() for a in (e.solution, *e.alternatives)]
wrong = [(e, m) for e in exercises().values() for m in e.mistakes]
every_right_answer = pytest.mark.parametrize(
    ("exercise", "answer"), right, ids=[f"{e.id}-{a.__name__}" for e, a in right]
)
every_mistake = pytest.mark.parametrize(
    ("exercise", "mistake"), wrong, ids=[f"{e.id}-{m.__name__}" for e, m in wrong]
)


def judged(exercise: Exercise, answer: Callable[..., Any], seed: str = PUBLIC_SEED) -> Report:
    """Judge an answer in this process."""
    return judge(exercise, partial(perform, answer), seed=seed)


def with_body(exercise: Exercise, body: str) -> Callable[..., Any]:
    """Make the definition that a student is given, with another body.

    A class keeps its constructor and gets the body in all other methods.
    """
    return defined(exercise, replaced(answer(exercise), body, constructor=False))


def defined(exercise: Exercise, source: str) -> Callable[..., Any]:
    namespace = dict(vars(inspect.getmodule(exercise.solution)))
    exec(source, namespace)
    function = namespace[exercise.id]
    assert callable(function)
    return function


def replaced(source: str, body: str, constructor: bool) -> str:
    """Put a body in the place of what stands between the markers."""
    head, *rest = re.split(rf"^ *{BEGIN}\n", source, flags=re.MULTILINE)
    for i, piece in enumerate(rest, start=1):
        kept, after = re.split(rf"^ *{END}(?:\n|$)", piece, flags=re.MULTILINE)
        indent = re.match(" *", kept)[0]
        stays = not constructor and i == 1 < len(rest)
        head += kept if stays else f"{indent}{body}\n"
        head += after
    return head


# Right answers


@every_right_answer
def test_a_right_answer_gets_full_marks_on_every_seed(exercise, answer):
    for seed in SEEDS:
        report = judged(exercise, answer, seed)
        assert [f for f in report.findings if not f.passed] == []
        assert (report.verdict, report.score) == (Verdict.PASS, exercise.points)
        assert report.diagnosis == ""


@every_right_answer
def test_a_right_answer_uses_nothing_forbidden(exercise, answer):
    ask = watching(exercise, partial(perform, answer))
    assert judge(exercise, ask).verdict == Verdict.PASS
    assert use_in(answer, exercise.forbidden) is None


@every_exercise
def test_two_alternatives_at_least_and_each_is_written_differently(exercise):
    bodies = {body_of(answer) for answer in (exercise.solution, *exercise.alternatives)}
    assert len(bodies) == 1 + len(exercise.alternatives) >= 3


def body_of(function: Callable[..., Any]) -> str:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, (ast.FunctionDef, ast.ClassDef))
    return "\n".join(ast.unparse(statement) for statement in definition.body)


# Answers that are not there yet


@every_exercise
def test_the_stub_is_not_answered_and_says_so(exercise):
    for body in ("raise NotImplementedError", "raise NotImplementedError()"):
        stub = defined(exercise, replaced(answer(exercise), body, constructor=True))
        report = judged(exercise, stub)
        assert (report.verdict, report.score) == (Verdict.NOT_ANSWERED, 0)
        assert "not written yet" in report.diagnosis
        assert len(report.findings) == len(exercise.cases)


@every_exercise
@pytest.mark.parametrize("body", ["...", "pass", "return", "return None"])
def test_an_empty_body_is_told_that_nothing_came_back(exercise, body):
    report = judged(exercise, with_body(exercise, body))
    assert (report.verdict, report.score) == (Verdict.WRONG, 0)
    for finding in report.findings:
        assert "nothing (None) came back" in finding.message


@every_exercise
@pytest.mark.parametrize("value", ["0", "(1, 2)", "'text'", "object()", "[[1.0]]", "{}"])
def test_an_answer_of_another_kind_gets_no_points_and_no_crash(exercise, value):
    report = judged(exercise, with_body(exercise, f"return {value}"))
    assert (report.verdict, report.score) == (Verdict.WRONG, 0)


# Known mistakes


@every_mistake
def test_a_known_mistake_is_caught_and_named_on_several_seeds(exercise, mistake):
    for seed in SEEDS[:2]:
        report = judged(exercise, mistake, seed)
        assert report.score < exercise.points
        assert report.verdict != Verdict.GRADER_ERROR
        assert report.diagnosis == CERTAIN + hint_of(mistake)


@every_exercise
def test_no_two_mistakes_behave_alike_on_all_cases(exercise):
    alike_so_far = [[*exercise.mistakes]]
    for case in exercise.cases:
        for trial in trials(exercise, case, PUBLIC_SEED):
            parts = [told_apart(group, trial, case.tolerance) for group in alike_so_far]
            alike_so_far = [part for part in chain(*parts) if len(part) > 1]
    assert alike_so_far == []


def told_apart(answers: list[Any], trial: Trial, tolerance: float | None) -> list[list[Any]]:
    """Put answers together whose replies are alike."""
    groups: list[tuple[Reply, list[Any]]] = []
    for wrong_answer in answers:
        reply = perform(wrong_answer, trial.request)
        for first, group in groups:
            if alike(first, reply, tolerance):
                group.append(wrong_answer)
                break
        else:
            groups.append((reply, [wrong_answer]))
    return [group for _, group in groups]


@every_exercise
def test_six_mistakes_at_least_each_with_a_hint_of_its_own(exercise):
    hints = {hint_of(mistake) for mistake in exercise.mistakes}
    assert len(hints) == len(exercise.mistakes) >= 6
    assert min(len(hint) for hint in hints) > 20


@every_exercise
def test_every_mistake_and_alternative_of_the_file_is_in_use(exercise):
    module = inspect.getmodule(exercise.cases[0].draw)
    signature_of_answer = [*inspect.signature(exercise.solution).parameters]
    answers = {
        name
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) or (inspect.isclass(thing) and exercise.is_class)
        if thing.__module__ == module.__name__
        if [*inspect.signature(thing).parameters] == signature_of_answer
        if not name.startswith("_")
    }
    assert answers <= {f.__name__ for f in (*exercise.mistakes, *exercise.alternatives)}


@every_exercise
def test_every_draw_of_the_file_is_in_use(exercise):
    module = inspect.getmodule(exercise.cases[0].draw)
    draws = {
        name
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__
        if [*inspect.signature(thing).parameters] == ["rng"] and not name.startswith("_")
    }
    assert draws == {case.draw.__name__ for case in exercise.cases}


# What a student reads


@every_exercise
def test_no_text_for_students_holds_a_line_of_the_answer(exercise):
    texts = [*map(hint_of, exercise.mistakes), *exercise.hints, *exercise.conventions]
    texts += [exercise.statement, exercise.example, signature(exercise)]
    assert leaks(answer_lines(exercise), texts) == []


def leaks(lines: list[str], texts: list[str]) -> list[str]:
    """List the parts of an answer that a text repeats, whatever the spaces."""
    flat = [squeezed(text) for text in texts]
    parts = [squeezed(part) for line in lines for part in essence(line)]
    return [part for part in parts if len(part) >= TRIVIAL and any(part in text for text in flat)]


def essence(line: str) -> list[str]:
    """Give a line without its comment, and what it assigns or returns."""
    code = line.partition("  #")[0]
    return [code, code.rpartition(" = ")[2].removeprefix("return ")]


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_a_leaked_line_is_found():
    lines = ["scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., L, M)"]
    assert leaks(lines, ["Use q @ k.transpose(-2,-1) / math.sqrt(q.shape[-1])."]) != []
    assert leaks(lines, ["Which two axes change places?"]) == []


@every_exercise
def test_behaviours_are_unique_and_in_words(exercise):
    behaviours = [case.behaviour for case in exercise.cases]
    assert len(set(behaviours)) == len(behaviours) >= 4
    for behaviour in behaviours:
        assert len(behaviour.split()) >= 2
        assert len(behaviour) <= 60  # beside its mark it fits on one line of text
        assert not re.search(r"[_()`=\[\]]", behaviour)


@every_exercise
def test_every_text_is_there_and_fits_its_place(exercise):
    assert exercise.title
    assert exercise.hints
    assert exercise.conventions
    for text in (exercise.statement, exercise.example):
        assert 60 < len(text) < 800
    assert all(case.weight > 0 for case in exercise.cases)


@every_exercise
def test_points_minutes_and_difficulty_are_sane(exercise):
    assert 1 <= exercise.points <= 10
    assert exercise.points == int(exercise.points)
    assert 2 <= exercise.minutes <= 40
    assert exercise.difficulty in range(1, 6)


@pytest.mark.parametrize("chapter", {e.chapter: None for e in exercises().values()})
def test_a_chapter_takes_20_to_90_minutes(chapter):
    assert 20 <= sum(e.minutes for e in exercises().values() if e.chapter == chapter) <= 90


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_exercise_file_is_in_the_order_of_its_chapter(folder):
    chapter = importlib.import_module(f"autograder.exercises.{folder.name}")
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(chapter.ORDER)
    found = {e.id: e for e in exercises().values() if e.chapter == chapter.CHAPTER}
    assert len(found) == len(chapter.ORDER)
    for name, (id_, exercise) in zip(chapter.ORDER, found.items(), strict=True):
        assert name == id_ or (exercise.is_class and name == name.lower())


def test_the_readme_counts_chapters_and_exercises():
    readme = (Path(autograder.exercises.__file__).parents[2] / "README.md").read_text()
    words = "Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen"
    chapters = words.split()[len({one.chapter for one in exercises().values()})]
    assert f"{chapters} chapters with {len(exercises())} exercises are here" in readme


# The worked example


@every_exercise
def test_the_worked_example_holds(exercise):
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(exercise.solution, exercise.id, globs=dict(vars_of(exercise)))
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@every_exercise
def test_the_worked_example_fails_on_a_mistake(exercise):
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(exercise.solution, exercise.id, globs=dict(vars_of(exercise)))
    test.globs[exercise.id] = exercise.mistakes[-1] if exercise.id == "attention_cost" else zero
    output: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=output.append).failed >= 1


def zero(*args: Any, **kwargs: Any) -> int:
    return 0


def vars_of(exercise: Exercise) -> dict[str, Any]:
    return vars(inspect.getmodule(exercise.solution))


@every_exercise
def test_the_stub_has_everything_but_the_answer(exercise):
    stub = signature(exercise)
    assert re.search(rf"^(def|class) {exercise.id}[(:]", stub)
    assert ">>>" in stub
    assert BEGIN not in stub
    assert ast.get_docstring(ast.parse(stub).body[0])


# Draws


@every_exercise
def test_cases_depend_on_the_seed_alone(exercise):
    first = drawn(exercise, "a seed")
    torch.manual_seed(random.randrange(1000))
    torch.randn(7)
    again = drawn(exercise, "a seed", backwards=True)
    assert first == again
    assert first != drawn(exercise, "another seed")
    assert first != drawn(exercise, PUBLIC_SEED)


def drawn(exercise: Exercise, seed: str, backwards: bool = False) -> dict[str, list[str]]:
    """Draw every trial anew and write it out, bit for bit."""
    kept_draws.cache_clear()
    cases = reversed(exercise.cases) if backwards else exercise.cases
    found = {c.behaviour: [written(t) for t in trials(exercise, c, seed)] for c in cases}
    return {case.behaviour: found[case.behaviour] for case in exercise.cases}


def written(trial: Any) -> str:
    def bits(tensor: torch.Tensor) -> str:
        numbers = "meta" if tensor.is_meta else tensor.double().tolist()
        return f"{tensor.dtype} {tuple(tensor.shape)} {numbers}"

    return f"{trial.inputs} {trial.sizes} {trial.returns} {map_request(bits, trial.request)}"


@every_exercise
def test_drawing_leaves_the_global_generator_alone(exercise):
    before = torch.get_rng_state()
    drawn(exercise, "a seed")
    assert torch.equal(before, torch.get_rng_state())


@every_exercise
def test_a_case_that_fails_is_shown_with_inputs_that_can_be_retyped(exercise):
    for case in exercise.cases:
        for trial in trials(exercise, case, "a seed"):
            assert re.search(r"\d", trial.inputs)


# Time

BLINK = 0.5  # seconds, on a slow machine that does other work, too; 0.2 on an idle laptop


def seconds(work: Callable[[], Any], times: int = 5) -> float:
    """Give the least of the CPU's time for it, after a first one: other work may share the CPU."""
    work()
    took = []
    for _ in range(times):
        start = time.thread_time()
        work()
        took.append(time.thread_time() - start)
    return min(took)


@every_exercise
def test_a_check_takes_less_than_a_blink(exercise):
    unlike_any_mistake = spoiling(exercise)
    assert judged(exercise, unlike_any_mistake).diagnosis == ""
    for one in (exercise.solution, exercise.mistakes[-1], unlike_any_mistake):
        assert seconds(partial(judged, exercise, one)) < BLINK


def spoiling(exercise: Exercise) -> Callable[..., Any]:
    """Make an answer that is wrong as no known mistake is."""
    right = exercise.solution

    def answer(*args: Any, **kwargs: Any) -> Any:
        return spoilt(right(*args, **kwargs))

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return spoilt(right.forward(self, *args, **kwargs))

    return type("Spoiling", (right,), {"forward": forward}) if exercise.is_class else answer


def spoilt(made: Any) -> Any:
    if isinstance(made, tuple):
        return tuple(map(spoilt, made))
    if isinstance(made, torch.Tensor) and made.dtype == torch.bool:
        return made ^ (torch.arange(made.numel(), device=made.device) % 3 == 0).view(made.shape)
    return None if made is None else 7 * made
