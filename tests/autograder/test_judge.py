"""The judge: verdicts, points, causes, and what no answer can do to it."""

import random
import re
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from toys import MODULE, Average, doubled, exercise, judged, one_tensor, squared, unchanged

from autograder.catalogue import exercise as find
from autograder.compare import values
from autograder.faults import Fault, FaultKind
from autograder.judge import judge, trials, watching
from autograder.perform import perform
from autograder.spec import Case
from autograder.verdict import Verdict
from autograder.wire import Call, Reply, Request, call, map_request
from solutions.softmax import softmax


def test_points_are_shared_by_weight():
    cases = (
        Case("wrong for these", one_tensor, values, weight=3),
        Case("never wrong", one_tensor, lambda *_: None, weight=1),
    )
    report = judged(unchanged, exercise(cases=cases))
    assert (report.score, report.max_score) == (1, 4)
    assert [f.passed for f in report.findings] == [False, True]


def test_a_right_answer_has_inputs_but_no_message():
    report = judged(doubled)
    assert (report.verdict, report.score) == (Verdict.PASS, 4)
    assert all(f.passed and "x (B, L, M) = " in f.inputs and not f.message for f in report.findings)


def test_a_secret_seed_draws_three_times_and_other_numbers():
    case = exercise().cases[0]
    assert len([*trials(exercise(), case, "public")]) == 1
    assert len({t.inputs for t in trials(exercise(), case, "secret")}) == 3


def test_an_answer_right_on_one_draw_alone_is_wrong():
    seen = []

    def once(x):
        seen.append(x)
        return 2 * x if len(seen) % 3 else x

    assert judged(once, seed="secret").verdict == Verdict.WRONG


def test_the_mistake_is_named_and_certain_when_all_replies_agree():
    report = judged(lambda x: x * x)
    assert report.diagnosis == "Likely cause: You square."


def test_two_mistakes_together_give_a_possible_cause():
    answer = find("attention_weights").mistakes
    by_name = {mistake.__name__: mistake for mistake in answer}
    queries, in_place = by_name["over_queries"], by_name["in_place"]

    def both(q, k):
        out = queries(q, k)
        in_place(q, k)
        return out

    report = judged(both, find("attention_weights"))
    assert report.diagnosis.startswith("Possible cause: Your weights are a softmax over the query")


def test_an_unknown_wrong_answer_gets_no_cause():
    assert judged(lambda x: 7 * x).diagnosis == ""


def test_a_fault_alone_is_no_ground_for_a_possible_cause():
    def stumbles(x):
        """You stumble."""
        raise ValueError("wrong size")

    def stumbles_once(x):
        if x.ndim == 3 and not hasattr(judged, "stumbled"):
            judged.stumbled = True
            raise ValueError("wrong size")
        return 7 * x

    report = judged(stumbles_once, exercise(mistakes=(stumbles,)))
    assert (report.verdict, report.diagnosis) == (Verdict.WRONG, "")
    report = judged(stumbles, exercise(mistakes=(stumbles,)))
    assert report.diagnosis == "Likely cause: You stumble."


# Endings


def test_an_infinite_loop_ends_soon_and_the_rest_is_not_tried():
    def forever(x):
        while True:
            pass

    start = time.perf_counter()
    report = judged(forever, seconds=0.2)
    assert time.perf_counter() - start < 3
    assert (report.verdict, report.score) == (Verdict.TIME, 0)
    assert report.findings[0].message == "still running after 0.2 seconds"
    assert report.findings[1].message == "not tried: an earlier call ran out of time"


def test_an_exception_handler_does_not_swallow_the_deadline():
    def stubborn(x):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    assert judged(stubborn, seconds=0.2).verdict == Verdict.TIME


def raising(error):
    def answer(x):
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "verdict", "message"),
    [
        (SystemExit(0), Verdict.EXITED, "the code asked Python to exit"),
        (MemoryError(), Verdict.MEMORY, "MemoryError"),
        (RuntimeError("can't allocate memory: 9 bytes"), Verdict.MEMORY, "allocate"),
        (ValueError("two\nlines"), Verdict.EXCEPTION, "ValueError: two"),
        (ValueError(), Verdict.EXCEPTION, "ValueError"),
        (BaseException("odd"), Verdict.EXCEPTION, "BaseException: odd"),
    ],
)
def test_each_way_to_end_has_its_verdict(error, verdict, message):
    report = judged(raising(error))
    assert (report.verdict, report.score) == (verdict, 0)
    assert message in report.findings[0].message


def test_an_error_names_the_line_of_the_answer_where_it_came_up():
    def answer(x):
        return x @ torch.zeros(1, 1, 77)

    assert "in the line `return x @ torch.zeros(1, 1, 77)`" in judged(answer).findings[0].message


def test_endless_recursion_is_an_exception():
    def again(x):
        return again(x)

    report = judged(again)
    assert report.verdict == Verdict.EXCEPTION
    assert "RecursionError" in report.findings[0].message


def test_ctrl_c_is_the_persons_not_the_answers():
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        judged(raising(KeyboardInterrupt()))


def test_an_error_that_cannot_be_told_is_still_the_answers():
    class MuteError(Exception):
        def __str__(self):
            raise LookupError("no words")

    class EndlessError(Exception):
        def __str__(self):  # noqa: PLE0307 - it never comes to a string
            while True:
                pass

    for error in (MuteError(), EndlessError()):
        report = judged(raising(error), exercise(cases=exercise().cases[:1]))
        assert report.verdict == Verdict.EXCEPTION
        assert "whose message cannot be read" in report.findings[0].message


def test_a_function_that_wraps_itself_is_still_judged():
    def answer(x):
        raise ValueError("here")

    answer.__wrapped__ = answer
    assert judged(answer).verdict == Verdict.EXCEPTION


def test_a_fault_of_the_course_is_reported_as_such_and_never_passes():
    def broken(rng):
        raise ZeroDivisionError("in the case")

    report = judged(doubled, exercise(cases=(Case("a case", broken, values),)))
    assert (report.verdict, report.score) == (Verdict.GRADER_ERROR, 0)
    assert "ZeroDivisionError: in the case" in report.diagnosis


def test_a_reference_that_fails_is_a_fault_of_the_course():
    report = judged(doubled, exercise(raising(ValueError("ours"))))
    assert report.verdict == Verdict.GRADER_ERROR
    assert "the reference failed" in report.diagnosis


def test_the_judge_takes_replies_alone():
    replies = iter([Reply(fault=Fault(FaultKind.MEMORY, "too much"))])
    report = judge(exercise(), lambda request: next(replies))
    assert report.verdict == Verdict.MEMORY
    assert report.findings[1].message == "not tried: an earlier call ran out of memory"


def test_a_stub_found_late_is_an_exception_not_an_empty_answer():
    calls = []

    def halfway(x):
        calls.append(x)
        if len(calls) > 1:
            raise NotImplementedError
        return 2 * x

    report = judged(halfway)
    assert (report.verdict, report.score) == (Verdict.EXCEPTION, 2)
    assert report.findings[1].message == "not written yet"


# What an answer leaves behind


def test_prints_and_warnings_of_an_answer_stay_inside(capsys, recwarn):
    def chatty(x):
        print("here")
        print("there", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return 2 * x

    assert judged(chatty).verdict == Verdict.PASS
    assert capsys.readouterr() == ("", "")
    assert [*recwarn] == []


def test_random_numbers_go_on_as_if_there_had_been_no_check():
    torch.manual_seed(5), random.seed(5), np.random.seed(5)
    expected = float(torch.rand(())), random.random(), np.random.rand()
    torch.manual_seed(5), random.seed(5), np.random.seed(5)
    judged(lambda x: x + torch.randn_like(x))
    assert (float(torch.rand(())), random.random(), np.random.rand()) == expected


def test_settings_that_an_answer_makes_do_not_outlive_it():
    def careless(x):
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return softmax(x)

    report = judged(careless, find("softmax"))
    assert report.verdict != Verdict.GRADER_ERROR
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32


def test_a_check_runs_on_one_thread_and_gives_the_others_back():
    seen = []
    before = torch.get_num_threads()
    judged(lambda x: seen.append(torch.get_num_threads()) or 2 * x)
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


def test_an_answer_gets_copies():
    def greedy(x):
        out = 2 * x
        x.zero_()
        return out

    report = judged(greedy)
    assert [f.passed for f in report.findings] == [True, False]
    assert report.findings[1].message == "`x` had other numbers after the call than before"


def test_an_infinity_replaced_in_place_is_a_change():
    def tidy(x):
        x.nan_to_num_()
        return x

    x = torch.tensor([1.0, -torch.inf])
    assert perform(tidy, call(x)).changed == ("argument 1",)
    assert perform(tidy, call(x=x)).changed == ("x",)
    assert perform(torch.clone, call(torch.tensor([1.0, torch.nan]))).changed == ()


LISTS = {
    "emptied": lambda given: given.clear(),
    "longer": lambda given: given.append(4),
    "another number": lambda given: given.__setitem__(0, 4),
    "a number of another kind": lambda given: given.__setitem__(0, 3.0),
    "None for a number": lambda given: given.__setitem__(0, None),
    "a tensor for another": lambda given: given.__setitem__(2, torch.zeros(2)),
    "something strange": lambda given: given.__setitem__(2, object()),
    "into the tensor": lambda given: given[2].zero_(),
    "into the list within": lambda given: given[3].pop(),
}


@pytest.mark.parametrize("change", LISTS.values(), ids=LISTS)
def test_a_changed_list_is_told_and_the_judges_own_stays(change):
    given = [3, None, torch.ones(2), [5]]
    request = call(given)
    assert perform(change, request).changed == ("argument 1",)
    assert perform(len, request).changed == ()
    assert given[:2] == [3, None]
    assert given[3] == [5]
    assert torch.equal(given[2], torch.ones(2))


# What comes back


class Sneaky(Tensor):
    """A tensor that runs its own code whenever it is used."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is Tensor.allclose or "eq" in getattr(func, "__name__", ""):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})


class Anything:
    """An object that says that it equals everything, and is a tensor."""

    shape = (1, 2, 3)
    __class__ = Tensor

    def __eq__(self, other):
        return True

    __hash__ = None


class Pretender(np.float64):
    """A number that turns into something else."""

    def item(self):
        return Anything()


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: (2 * x).as_subclass(Sneaky),
        lambda x: nn.Parameter(2 * x),
        lambda x: (2 * x).mT.contiguous().mT,
        lambda x: (2 * x).requires_grad_(),
    ],
)
def test_right_numbers_in_any_kind_of_tensor_pass(answer):
    assert judged(answer).verdict == Verdict.PASS


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: x.as_subclass(Sneaky), "values differ"),
        (lambda x: Anything(), "a Anything came back where one tensor was asked"),
        (lambda x: Pretender(1), "a float came back where one tensor was asked"),
        (lambda x: (2 * x).numpy(), "a ndarray came back where one tensor was asked"),
        (lambda x: (2 * x, x), "a tuple of 2 came back where one tensor was asked"),
        (lambda x: (2 * x).tolist(), "came back where one tensor was asked"),
        (lambda x: None, "nothing (None) came back: is a `return` missing?"),
        (lambda x: "x", "a str came back"),
        (lambda x: {"x": x}, "a dict came back"),
        (lambda x: True, "a bool came back"),
        (lambda x: (2 * x).to_sparse(), "a sparse_coo tensor came back"),
        (lambda x: (2 * x).double(), "dtype float64 where float32 was expected"),
        (lambda x: (2 * x).to("meta"), "the result is on meta, but the inputs"),
        (lambda x: 2 * x.transpose(0, 1), "shape (L, B, M) = "),
        (lambda x: (2 * x).sum(-1), " where (B, L, M) = "),
        (lambda x: x * torch.nan, "values are NaN"),
        (lambda x: x / 0, "values are infinite"),
        (lambda x: (2 * x).to(torch.complex64), "dtype complex64"),
    ],
)
def test_anything_else_is_told_what_it_is(answer, message):
    report = judged(answer)
    assert (report.verdict, report.score) == (Verdict.WRONG, 0)
    assert message in report.findings[0].message


def test_a_tensor_whose_every_operation_is_its_own_code_is_no_tensor():
    class Wrapped(Tensor):
        @staticmethod
        def __new__(cls, inner):
            return Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return args[0] if args else None

    assert judged(Wrapped).score == 0


# Classes


def test_a_class_is_built_given_weights_and_called_several_times():
    report = judged(Average, MODULE)
    assert (report.verdict, report.score) == (Verdict.PASS, 4)
    assert judged(Average, MODULE, "secret").verdict == Verdict.PASS
    assert MODULE.is_class


def test_a_class_that_forgets_is_named():
    report = judged(MODULE.mistakes[0], MODULE)
    assert "Your object does not remember" in report.diagnosis
    assert report.findings[0].message.startswith("call 2: ")


def test_the_mode_of_a_module_matters():
    class Always(Average):
        def forward(self, x):
            self.training = False
            return super().forward(x)

    assert [f.passed for f in judged(Always, MODULE).findings] == [True, False, True]


def test_a_module_without_gradient_says_so():
    class Cut(Average):
        def forward(self, x):
            return super().forward(x.detach()).detach()

    assert "no gradient flows back" in judged(Cut, MODULE).findings[2].message


def test_weights_under_another_name_are_told_which_name_is_expected():
    class Renamed(Average):
        def __init__(self, width, *, decay=0.5):
            super().__init__(width, decay=decay)
            self.W_in = self.w_in
            del self.w_in

    report = judged(Renamed, MODULE)
    assert report.verdict == Verdict.EXCEPTION
    message = report.findings[0].message
    assert message == "the weights are to be called w_in.weight; yours are called W_in.weight"


def test_a_weight_that_is_a_plain_tensor_is_told_what_is_missing():
    class PlainTensor(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.scale = torch.ones(width)

    reply = perform(PlainTensor, _scaling(torch.ones(3)))
    assert "scale: found as plain tensor" in reply.fault.message
    assert "nn.Parameter" in reply.fault.message


@pytest.mark.parametrize("kind", ["buffer", "frozen", "detached"])
def test_a_weight_that_does_not_learn_has_no_gradient(kind):
    class Fixed(nn.Module):
        def __init__(self, width):
            super().__init__()
            if kind == "buffer":
                self.register_buffer("scale", torch.ones(width))
            else:
                self.scale = nn.Parameter(torch.ones(width), requires_grad=kind == "detached")

        def forward(self, x):
            return x * self.scale.detach()

    of_x, of_scale = perform(Fixed, _scaling(torch.ones(3))).values
    assert torch.equal(of_x, torch.full((3,), 2.0))
    assert of_scale is None


def _scaling(x):
    """Ask for the gradients of a module that multiplies x by its weight, which is 2."""
    state = {"scale": torch.full((3,), 2.0)}
    return Request((Call((x,)),), Call((3,)), state, cotangent=torch.ones(3))


def test_weights_of_another_shape_are_told_both_shapes():
    class Wide(Average):
        def __init__(self, width, *, decay=0.5):
            super().__init__(width, decay=decay)
            self.w_in = nn.Linear(width, 11, bias=False)

    message = judged(Wide, MODULE).findings[0].message
    assert re.match(r"w_in.weight has shape \(11, (\d)\) where \(\1, \1\) was expected", message)


def test_a_class_that_is_no_module_is_told_so():
    class Plain:
        def __init__(self, width, *, decay):
            pass

    message = judged(Plain, MODULE).findings[0].message
    assert message == "Plain is no nn.Module: it takes no weights"


def test_a_buffer_of_ones_own_is_no_fault():
    class Buffered(Average):
        def __init__(self, width, *, decay=0.5):
            super().__init__(width, decay=decay)
            self.register_buffer("mask", torch.ones(3))

    assert judged(Buffered, MODULE).verdict == Verdict.PASS


def test_a_plain_class_without_weights_works_too():
    class Counter:
        def __call__(self, x):
            return 2 * x

    request = replace(call(torch.ones(2)), build=call().calls[0])
    assert torch.equal(perform(Counter, request).values[0], torch.full((2,), 2.0))


def test_a_function_where_several_arguments_take_gradients_names_the_one_that_gets_none():
    mistakes = {m.__name__: m for m in find("attention_weights").mistakes}
    report = judged(mistakes["key_detached"], find("attention_weights"))
    messages = [f.message for f in report.findings]
    assert "gradient for `k`: no gradient arrives" in messages


def test_mistakes_do_not_run_when_all_is_well():
    def explosive(x):
        raise SystemExit

    assert judged(doubled, exercise(mistakes=(explosive, squared))).verdict == Verdict.PASS


# What is forbidden

NAMES = ("torch.softmax", "Tensor.softmax")


def replying(*used):
    return lambda request: replace(perform(doubled, request), used=used)


def test_a_forbidden_call_costs_all_points_and_is_named():
    report = judge(exercise(forbidden=NAMES), replying("Tensor.softmax", "torch.softmax"))
    assert (report.verdict, report.score) == (Verdict.FORBIDDEN, 0)
    assert report.diagnosis.startswith("Your answer uses Tensor.softmax, which already does")


def test_a_reply_cannot_put_in_a_name_of_its_own():
    report = judge(exercise(forbidden=NAMES), replying("<script>", "torch.exp"))
    assert report.verdict == Verdict.PASS


def test_a_forbidden_call_on_the_last_draw_counts_too():
    requests = []

    def ask(request):
        requests.append(request)
        return replace(perform(doubled, request), used=NAMES if len(requests) == 6 else ())

    assert judge(exercise(forbidden=NAMES), ask, seed="secret").verdict == Verdict.FORBIDDEN
    assert len(requests) == 6


def test_nothing_is_asked_after_a_forbidden_call():
    requests = []

    def ask(request):
        requests.append(request)
        return Reply(fault=Fault(FaultKind.TIME, "long"), used=NAMES)

    assert judge(exercise(forbidden=NAMES), ask).verdict == Verdict.FORBIDDEN
    assert len(requests) == 1


def test_watching_asks_for_what_the_exercise_forbids():
    asked = []

    def ask(request):
        asked.append(request)
        return perform(doubled, request)

    judge(exercise(forbidden=NAMES), ask)
    assert {request.watch for request in asked} == {()}
    del asked[:]
    spec = exercise(forbidden=NAMES)
    judge(spec, watching(spec, ask))
    assert {request.watch for request in asked} == {NAMES}


# Computed once


def test_trials_and_the_courses_replies_are_computed_once():
    calls = []

    def counted(x):
        calls.append(x)
        return 2 * x

    def drawing(rng):
        calls.append(rng)
        yield from one_tensor(rng)

    def mistake(x):
        calls.append(x)
        return x

    cases = (Case("the entries", drawing, values),)
    spec = exercise(counted, cases=cases, mistakes=(mistake,))
    first = judged(squared, spec, "secret")
    assert len(calls) == 3 + 1 + 1  # draws; the first fails, and then one mistake is tried on it
    assert judged(squared, spec, "secret") == first
    assert len(calls) == 5
    judged(squared, spec, "another")
    assert len(calls) == 10


def test_trials_of_another_seed_case_or_exercise_are_others():
    one, other = exercise(), exercise()
    case, second = one.cases
    kept = trials(one, case, "public")
    assert trials(one, case, "public", "cpu") is kept
    assert trials(one, case, "secret") is not kept
    assert trials(one, second, "public") is not kept
    assert trials(other, case, "public") is not kept


class Greedy(nn.Module):
    """A module that changes all that it is given."""

    def __init__(self, width, *, decay=0.5):
        super().__init__()
        self.w_in = nn.Linear(width, width, bias=False)

    def forward(self, x):
        with torch.no_grad():
            self.w_in.weight.zero_()
            return x.zero_()

    def reset(self):
        """Forget."""


def greedy(*args, **kwargs):
    for one in (*args, *kwargs.values()):
        if isinstance(one, Tensor):
            one.detach().fill_(7).requires_grad_(False)
    return args[0]


def bits(trial):
    return map_request(lambda t: "meta" if t.is_meta else t.double().tolist(), trial.request)


GREEDY = [(find(name), greedy) for name in ("softmax", "attention_weights", "attention_cost")]


@pytest.mark.parametrize(("spec", "answer"), [*GREEDY, (MODULE, Greedy)])
def test_no_answer_changes_the_trials_that_the_next_one_gets(spec, answer):
    kept = [trial for case in spec.cases for trial in trials(spec, case, "public")]
    before = [str(bits(trial)) for trial in kept]
    judged(answer, spec)
    assert [str(bits(trial)) for trial in kept] == before
    assert kept == [trial for case in spec.cases for trial in trials(spec, case, "public")]
    assert judged(spec.solution, spec).verdict == Verdict.PASS


def test_draws_are_kept_as_the_judge_draws_them_wherever_they_are_drawn_first():
    spec = exercise()
    with torch.inference_mode(), torch.device("meta"):
        (trial,) = trials(spec, spec.cases[0], "public")
    (x,) = trial.request.calls[0].args
    assert not x.is_meta
    assert not x.is_inference()


def test_an_answer_that_gives_back_too_much_has_its_verdict():
    report = judge(exercise(), lambda request: Reply(fault=Fault(FaultKind.OUTPUT, "too much")))
    assert (report.verdict, report.score) == (Verdict.OUTPUT, 0)
    assert report.findings[1].message == "not tried: an earlier call gave back or printed too much"
