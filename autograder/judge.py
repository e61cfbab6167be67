"""Judge one answer: draw inputs, ask, compare, diagnose. Data in, a Report out; no processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import torch

from autograder.diagnose import Observation, suspect
from autograder.faults import Fault, FaultKind
from autograder.forbidden import reason
from autograder.inputs import generator
from autograder.recorded import NotRecorded
from autograder.replies import reply_of
from autograder.spec import Case, Exercise, Trial
from autograder.verdict import Finding, Report, Verdict
from autograder.wire import Reply, Request, map_request

Ask = Callable[[Request], Reply]

PUBLIC_SEED = "public"
DRAWS = {True: 1, False: 3}  # by whether the seed is the public one

VERDICT_OF = {
    FaultKind.TIME: Verdict.TIME,
    FaultKind.MEMORY: Verdict.MEMORY,
    FaultKind.OUTPUT: Verdict.OUTPUT,
    FaultKind.EXITED: Verdict.EXITED,
}
ARGUMENT = re.compile(r"\bargument (\d+)\b")
NOT_TRIED = "not tried: an earlier call {}"


@dataclass
class _Seen:
    """What was found while the cases of an exercise were tried."""

    observations: list[Observation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stopped: Fault | None = None
    used: str = ""
    unwritten: bool = False


def judge(exercise: Exercise, ask: Ask, *, seed: str = PUBLIC_SEED, device: str = "cpu") -> Report:
    """Judge the answer that `ask` reaches.

    ask     gives the answer's reply to a request; the judge never holds the answer itself
    seed    the public seed draws each case once; any other seed draws it three times
    device  where the tensors of the requests live
    """
    try:
        with one_thread(), _own_defaults():
            return _report(exercise, _tried(exercise, ask, seed, device))
    except NotRecorded as error:  # a copy without answers knows the public seed alone
        return Report(exercise.id, Verdict.GRADER_ERROR, 0.0, exercise.points, f"{error}.")
    except Exception as error:  # a fault of ours must be reported as ours
        text = f"The grader itself failed ({type(error).__name__}: {error}). Tell your instructor."
        return Report(exercise.id, Verdict.GRADER_ERROR, 0.0, exercise.points, text)


def watching(exercise: Exercise, ask: Ask) -> Ask:
    """Ask so that the reply tells which of the exercise's forbidden functions were called."""

    def asked(request: Request) -> Reply:
        return ask(replace(request, watch=exercise.forbidden))

    return asked


def _cause(exercise: Exercise, seen: _Seen) -> str:
    return str(suspect(exercise, seen.observations) or "")


@contextmanager
def one_thread() -> Iterator[None]:
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
        with _on_the_cpu(), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)


def _on_the_cpu() -> AbstractContextManager[Any]:
    """Make new tensors on the CPU; torch's own way is slow, and seldom needed."""
    if torch.get_default_device().type == "cpu":
        return nullcontext()
    device: AbstractContextManager[Any] = torch.device("cpu")
    return device


def _tried(exercise: Exercise, ask: Ask, seed: str, device: str) -> _Seen:
    seen = _Seen()
    for case in exercise.cases:
        if seen.stopped:
            text = NOT_TRIED.format(_ending(seen.stopped))
            seen.findings.append(Finding(case.behaviour, passed=False, message=text))
            continue
        observed = list(_observe(exercise, case, ask, seed, device))
        seen.used = _used(exercise, observed[-1].reply)
        seen.unwritten = not seen.observations and _is_unwritten(observed[0].reply)
        if seen.used or seen.unwritten:
            return seen
        seen.observations += observed
        seen.findings.append(_finding(exercise, case, observed))
        seen.stopped = _ends_everything(observed[-1].reply)
    return seen


def trials(exercise: Exercise, case: Case, seed: str, device: str = "cpu") -> tuple[Trial, ...]:
    """Draw the trials of a case; they depend on the exercise, the case and the seed alone.

    They are drawn once: all answers get the same, and must get copies of the tensors.
    """
    return drawn(exercise, case, seed, device)


@lru_cache(maxsize=1024)  # a chapter has some 50 cases
def drawn(exercise: Exercise, case: Case, seed: str, device: str) -> tuple[Trial, ...]:
    """Draw the trials of a case, and keep them: `drawn.cache_clear` forgets."""
    with _own_defaults():
        return tuple(
            _moved(trial, device)
            for draw in range(DRAWS[seed == PUBLIC_SEED])
            for trial in case.draw(generator(seed, exercise.id, case.behaviour, draw))
        )


def _moved(trial: Trial, device: str) -> Trial:
    if device == "cpu" or trial.request.elsewhere:
        return trial

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.is_meta else tensor.to(device)

    request = map_request(move, trial.request)
    return Trial(request, trial.inputs, trial.sizes, trial.returns)


def _observe(
    exercise: Exercise, case: Case, ask: Ask, seed: str, device: str
) -> Iterator[Observation]:
    """Try a case until the first trial that fails, or that uses what is forbidden."""
    for trial in trials(exercise, case, seed, device):
        reply = ask(trial.request)
        expected = reply_of(exercise.solution, trial)
        if expected.fault:
            raise RuntimeError(f"the reference failed on {trial.inputs}: {expected.fault.message}")
        problem = case.examine(trial, reply, expected, case.tolerance)
        yield Observation(case, trial, reply, problem)
        if problem or _used(exercise, reply):
            return


def _used(exercise: Exercise, reply: Reply) -> str:
    """Name the forbidden function that an answer called; a reply cannot make up a name."""
    return next((name for name in reply.used if name in exercise.forbidden), "")


def _finding(exercise: Exercise, case: Case, observed: list[Observation]) -> Finding:
    last = observed[-1]
    shown = last if last.problem else observed[0]
    message = _with_names(last.problem or "", exercise.takes)
    return Finding(case.behaviour, not last.problem, shown.trial.inputs, message)


def _with_names(message: str, names: tuple[str, ...]) -> str:
    """Call arguments by their names: `cache` instead of "argument 4"."""

    def name(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        return f"`{names[at]}`" if at < len(names) else found[0]

    return ARGUMENT.sub(name, message)


def _report(exercise: Exercise, seen: _Seen) -> Report:
    points = exercise.points
    if seen.used:
        return Report(exercise.id, Verdict.FORBIDDEN, 0.0, points, reason(seen.used))
    if seen.unwritten:
        return _not_answered(exercise)
    found, printed = (*seen.findings,), _printed(seen.observations)
    if all(f.passed for f in found):
        return Report(exercise.id, Verdict.PASS, points, points, "", found, printed)
    score = _partial(exercise, seen.findings)
    diagnosis = _cause(exercise, seen)
    verdict = _verdict(seen.observations)
    return Report(exercise.id, verdict, score, points, diagnosis, found, printed)


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
        FaultKind.OUTPUT: "gave back or printed too much",
        FaultKind.EXITED: "asked Python to exit",
    }[fault.kind]


def _not_answered(exercise: Exercise) -> Report:
    findings = tuple(Finding(c.behaviour, False, message="not tried") for c in exercise.cases)
    text = f"`{exercise.id}` is not written yet."
    return Report(exercise.id, Verdict.NOT_ANSWERED, 0.0, exercise.points, text, findings)
