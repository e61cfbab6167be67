"""Exercise -> the files that `autograder.recorded` reads: requests, replies, hints; no code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from autograder.frames import encode, reply_data, request_data
from autograder.inputs import generator
from autograder.judge import PUBLIC_SEED, one_thread, trials
from autograder.perform import perform
from autograder.recorded import CASE_FILE, EXERCISE_FILE, examine_named
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.wire import Data, Reply

CODE_OF_EXERCISE = {"solution", "cases", "mistakes", "alternatives"}
CODE_OF_CASE = {"draw", "examine"}


def recorded_files(exercise: Exercise) -> dict[str, bytes]:
    """Ask the solution and every known mistake what the public seed asks, and write it down.

    ->  file name -> its bytes, the same each time
    Raises ValueError if an examine function is in no module that a bundle holds.
    """
    files = {EXERCISE_FILE: encode(_exercise_data(exercise))}
    with one_thread():  # as the judge will compare
        for number, case in enumerate(exercise.cases):
            files[CASE_FILE.format(number)] = encode(_case_data(exercise, case))
    return files


def _exercise_data(exercise: Exercise) -> Data:
    return {
        "plain": _plain(exercise, CODE_OF_EXERCISE),
        "solution": _who(exercise.solution, words=""),
        "mistakes": [_who(one, words=one.__doc__ or "") for one in exercise.mistakes],
        "asks_for_class": exercise.is_class,
        "takes": exercise.takes,
        "cases": [_case_words(exercise, case) for case in exercise.cases],
    }


def _plain(thing: Any, left_out: set[str]) -> dict[str, Data]:
    """Give the fields of a spec that are data; a field added later comes along by itself."""
    names = (field.name for field in fields(thing) if field.init)
    return {name: getattr(thing, name) for name in names if name not in left_out}


def _who(implementation: Implementation, words: str) -> Data:
    name, module = implementation.__name__, implementation.__module__
    return {"name": name, "module": module, "words": words}


def _case_words(exercise: Exercise, case: Case) -> Data:
    name = getattr(case.examine, "__name__", "")
    if examine_named(name) is not case.examine:
        raise ValueError(
            f"{exercise.id}, case {case.behaviour!r}: its examine function is not in "
            "autograder/compare.py or passages.py, where a class bundle finds it by name; move it "
            "there"
        )
    return {
        "plain": _plain(case, CODE_OF_CASE),
        "examine": name,
        "rng_seed": generator(PUBLIC_SEED, exercise.id, case.behaviour, 0).initial_seed(),
    }


def _case_data(exercise: Exercise, case: Case) -> Data:
    """Write the trials of a case, and for each who gave which of the different replies."""
    drawn = [*trials(exercise, case, PUBLIC_SEED)]
    replies: dict[bytes, int] = {}
    written: list[Data] = []
    given = []
    for trial in drawn:
        row = []
        for reply in _replies(exercise, trial):
            data = reply_data(reply)
            key = encode(data)
            if key not in replies:
                replies[key] = len(written)
                written.append(data)
            row.append(replies[key])
        given.append(row)
    return {"trials": [_trial_data(one) for one in drawn], "replies": written, "given": given}


def _trial_data(trial: Trial) -> Data:
    request = replace(trial.request, watch=())
    return {"plain": _plain(trial, {"request"}), "request": request_data(request)}


def _replies(exercise: Exercise, trial: Trial) -> Iterator[Reply]:
    """Give the replies of the solution and of each mistake, without anything of their text."""
    request = replace(trial.request, watch=())
    for one in (exercise.solution, *exercise.mistakes):
        reply = perform(one, request)
        fault = reply.fault and replace(reply.fault, place="")  # it quotes the line that failed
        yield replace(reply, fault=fault, printed="")
