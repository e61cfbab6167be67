"""The main run of chapter 12 against nanoGPT: equal tokens and about equal time, in one run.

    git clone https://github.com/karpathy/nanoGPT FOLDER
    python benchmarks/training.py --nanogpt FOLDER [--steps 2000] [--threads 2]

All get the same batches (12 pieces of 64 characters, from one generator) and are measured on the
same held-out windows. The model of the chapter is trained twice, for as many steps as nanoGPT and
for those of the page, which take about as long. nanoGPT's model and optimiser are its own; its
rate, its warm-up, its betas and its clipping are those of the configuration for computers without
GPU in its readme. The runs take turns of 100 steps, so that other work on the machine slows all of
them. Seconds are those of training alone, without evaluation.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn

from book.data.tiny_shakespeare import tiny_shakespeare
from solutions.corpus import make_batches
from solutions.decoder import TransformerLM
from solutions.initial import init_residual_scale
from solutions.losses import lm_loss
from solutions.optimiser import lr_schedule
from solutions.trainer import Trainer

CONTEXT, ROWS, TURN, PAGE, PUBLISHED = 64, 12, 100, 1200, 1.88
Batch = tuple[Tensor, Tensor]


def corpus() -> tuple[Tensor, Tensor]:
    """Return the first nine tenths of the text as token ids, and the last."""
    text = tiny_shakespeare()
    number = {letter: i for i, letter in enumerate(sorted(set(text)))}
    tokens = torch.tensor([number[letter] for letter in text])
    split = int(0.9 * len(tokens))
    return tokens[:split], tokens[split:]


def ours(steps: int) -> tuple[nn.Module, Callable[[Tensor, Tensor], float]]:
    """Make the model of the chapter, and what takes a step."""
    torch.manual_seed(0)
    model = TransformerLM(65, d_model=128, layers=4, heads=4, d_ff=344)
    init_residual_scale(model)
    trainer = Trainer(model, peak=4e-3, warmup=100, total=steps, floor=4e-4)
    return model, trainer.step


def nanogpt(folder: Path, steps: int) -> tuple[nn.Module, Callable[[Tensor, Tensor], float]]:
    """Make nanoGPT's model and optimiser from its own files, and what takes a step."""
    theirs = _imported(folder / "model.py")
    torch.manual_seed(0)
    sizes = {"n_layer": 4, "n_head": 4, "n_embd": 128, "dropout": 0.0, "bias": False}
    model = theirs.GPT(theirs.GPTConfig(block_size=CONTEXT, vocab_size=65, **sizes))
    optimiser = model.configure_optimizers(0.1, 1e-3, (0.9, 0.99), "cpu")
    done = 0

    def step(inputs: Tensor, targets: Tensor) -> float:
        nonlocal done
        model.train()
        warming = 1e-3 * (done + 1) / 101  # its own convention
        rate = warming if done < 100 else lr_schedule(done, 100, steps, 1e-3, 1e-4)
        for group in optimiser.param_groups:
            group["lr"] = rate
        _, loss = model(inputs, targets.contiguous())  # it views them as one row
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        done += 1
        return float(loss.detach())

    return model, step


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("nanogpt_model", path)
    if spec is None or spec.loader is None or not path.exists():
        raise SystemExit(f"There is no {path}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@torch.no_grad()
def loss_on(model: nn.Module, text: Tensor) -> float:
    """Measure the loss on all windows of a text that do not overlap."""
    model.eval()
    whole = (len(text) - 1) // CONTEXT * CONTEXT
    inputs, targets = text[:whole].view(-1, CONTEXT), text[1 : whole + 1].view(-1, CONTEXT)
    total = 0.0
    for x, y in zip(inputs.chunk(18), targets.chunk(18), strict=True):
        out = model(x) if isinstance(model, TransformerLM) else model(x, y)
        total += lm_loss(out[0], y).item() * len(x)
    return total / len(inputs)


@dataclass
class Run:
    """A model in training, and what it has taken so far."""

    model: nn.Module
    step: Callable[[Tensor, Tensor], float]
    steps: int
    seconds: float = 0.0
    done: int = 0
    generator: torch.Generator = field(default_factory=lambda: torch.Generator().manual_seed(10))

    def turn(self, train: Tensor) -> float:
        """Take the next steps on the clock; return the loss of the last batch."""
        count = min(TURN, self.steps - self.done)
        batches = [make_batches(train, CONTEXT, ROWS, self.generator) for _ in range(count)]
        began = time.perf_counter()
        losses = [self.step(*batch) for batch in batches]
        self.seconds += time.perf_counter() - began
        self.done += count
        return losses[-1]


def main() -> None:
    """Train all in turns and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nanogpt", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    train, held_out = corpus()
    runs = {
        "equal tokens": Run(*ours(asked.steps), asked.steps),
        "as on the page": Run(*ours(PAGE), PAGE),
        "nanoGPT": Run(*nanogpt(asked.nanogpt, asked.steps), asked.steps),
    }
    while unfinished := {name: run for name, run in runs.items() if run.done < run.steps}:
        for name, run in unfinished.items():
            loss = run.turn(train)
            print(f"{name}: {run.done} of {run.steps} steps, last batch {loss:.2f}", flush=True)
    print(
        f"\n{'':14} {'parameters':>10} {'tokens':>10} {'seconds':>8} {'ratio':>6} {'held out':>9}"
    )
    for name, run in runs.items():
        count = sum(p.numel() for p in run.model.parameters())
        tokens, ratio = run.steps * CONTEXT * ROWS, run.seconds / runs["nanoGPT"].seconds
        loss = loss_on(run.model, held_out)
        print(f"{name:14} {count:10,} {tokens:10,} {run.seconds:8.0f} {ratio:6.2f} {loss:9.3f}")
    print(f"ratio: of the time of nanoGPT, whose readme says {PUBLISHED}")


if __name__ == "__main__":
    main()
