"""Judge one answer: draw inputs, ask, compare, diagnose. Data in, a Report out; no processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from autograder.diagnose import Observation, suspect
from autograder.inputs import generator
from autograder.perform import perform
from autograder.spec import Case, Exercise, Trial
from autograder.verdict import Finding, Report, Verdict
from autograder.wire import Fault, FaultKind, Reply, Request, map_request

Ask = Callable[[Request], Reply]

PUBLIC_SEED = "public"
DRAWS = {True: 1, False: 3}  # by whether the seed is the public one

VERDICT_OF = {
    FaultKind.TIME: Verdict.TIME,
    FaultKind.MEMORY: Verdict.MEMORY,
    FaultKind.EXITED: Verdict.EXITED,
}
NOT_TRIED = "not tried: an earlier call {}"


def judge(exercise: Exercise, ask: Ask, *, seed: str = PUBLIC_SEED, device: str = "cpu") -> Report:
    """Judge the answer that `ask` reaches.

    ask     gives the answer's reply to a request; the judge never holds the answer itself
    seed    the public seed draws each case once; any other seed draws it three times
    device  where the tensors of the requests live
    """
    try:
        with _one_thread(), _own_defaults():
            return _judged(exercise, ask, seed, device)
    except Exception as error:  # a fault of ours must be reported as ours
        text = f"The grader itself failed ({type(error).__name__}: {error}). Tell your instructor."
        return Report(exercise.id, Verdict.GRADER_ERROR, 0.0, exercise.points, text)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small tensors are quicker on one thread, above all where others use the CPU too."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _own_defaults() -> Iterator[None]:
    """Judge under torch's usual defaults, whatever the notebook has set for itself."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)


def _judged(exercise: Exercise, ask: Ask, seed: str, device: str) -> Report:
    seen: list[Observation] = []
    findings: list[Finding] = []
    stopped: Fault | None = None
    for case in exercise.cases:
        if stopped:
            text = NOT_TRIED.format(_ending(stopped))
            findings.append(Finding(case.behaviour, passed=False, message=text))
            continue
        observed = list(_observe(exercise, case, ask, seed, device))
        if not seen and _is_unwritten(observed[0].reply):
            return _not_answered(exercise)
        seen += observed
        findings.append(_finding(case, observed))
        stopped = _ends_everything(observed[-1].reply)
    return _report(exercise, seen, findings)


def trials(exercise: Exercise, case: Case, seed: str, device: str = "cpu") -> Iterator[Trial]:
    """Draw the trials of a case; they depend on the exercise, the case and the seed alone."""
    for draw in range(DRAWS[seed == PUBLIC_SEED]):
        for trial in case.draw(generator(seed, exercise.id, case.behaviour, draw)):
            yield _moved(trial, device)


def _moved(trial: Trial, device: str) -> Trial:
    if device == "cpu":
        return trial

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.is_meta else tensor.to(device)

    request = map_request(move, trial.request)
    return Trial(request, trial.inputs, trial.sizes, trial.returns)


def _observe(
    exercise: Exercise, case: Case, ask: Ask, seed: str, device: str
) -> Iterator[Observation]:
    """Try a case until the first trial that fails."""
    for trial in trials(exercise, case, seed, device):
        reply = ask(trial.request)
        expected = perform(exercise.solution, trial.request)
        if expected.fault:
            raise RuntimeError(f"the reference failed on {trial.inputs}: {expected.fault.message}")
        problem = case.examine(trial, reply, expected, case.tolerance)
        yield Observation(case, trial, reply, problem)
        if problem:
            return


def _finding(case: Case, observed: list[Observation]) -> Finding:
    last = observed[-1]
    shown = last if last.problem else observed[0]
    return Finding(case.behaviour, not last.problem, shown.trial.inputs, last.problem or "")


def _report(exercise: Exercise, seen: list[Observation], findings: list[Finding]) -> Report:
    found = (*findings,)
    if all(f.passed for f in found):
        points = exercise.points
        return Report(exercise.id, Verdict.PASS, points, points, "", found, _printed(seen))
    return Report(
        exercise.id,
        _verdict(seen),
        _partial(exercise, findings),
        exercise.points,
        str(suspect(exercise, seen) or ""),
        found,
        _printed(seen),
    )


def _partial(exercise: Exercise, findings: list[Finding]) -> float:
    """Points by weight, to a quarter, which adds up without rounding in every spreadsheet.

    What is not all right never rounds up to full marks.
    """
    total = sum(case.weight for case in exercise.cases)
    won = sum(c.weight for c, f in zip(exercise.cases, findings, strict=True) if f.passed)
    return min(round(4 * exercise.points * won / total) / 4, exercise.points - 0.25)


def _printed(seen: list[Observation]) -> str:
    failed_first = sorted(seen, key=lambda o: not o.problem)
    return next((o.reply.printed for o in failed_first if o.reply.printed), "")


def _verdict(seen: list[Observation]) -> Verdict:
    """Name the worst ending; an answer that raises only on some inputs is wrong on those."""
    failed = [o.reply for o in seen if o.problem]
    ended = [VERDICT_OF[r.fault.kind] for r in failed if r.fault and r.fault.kind in VERDICT_OF]
    if ended:
        return ended[0]
    return Verdict.EXCEPTION if all(r.fault for r in failed) else Verdict.WRONG


def _is_unwritten(reply: Reply) -> bool:
    return bool(reply.fault and reply.fault.kind == FaultKind.NOT_WRITTEN)


def _ends_everything(reply: Reply) -> Fault | None:
    return reply.fault if reply.fault and reply.fault.kind in VERDICT_OF else None


def _ending(fault: Fault) -> str:
    return {
        FaultKind.TIME: "ran out of time",
        FaultKind.MEMORY: "ran out of memory",
        FaultKind.EXITED: "asked Python to exit",
    }[fault.kind]


def _not_answered(exercise: Exercise) -> Report:
    findings = tuple(Finding(c.behaviour, False, message="not tried") for c in exercise.cases)
    text = f"`{exercise.id}` is not written yet."
    return Report(exercise.id, Verdict.NOT_ANSWERED, 0.0, exercise.points, text, findings)
