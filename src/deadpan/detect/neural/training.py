"""One trainer for all networks: batches of similar length, losses and early stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from deadpan.detect.neural import StopOn
from deadpan.detect.neural.optimiser import Checkpoint, Optimiser, trained_weights
from deadpan.errors import ConfigError, ModelError
from deadpan.progress import Progress
from deadpan.stats import balanced_accuracy, confusion, f1, macro_f1
from deadpan.stats.ranking import area_under_curve
from deadpan.stats.scores import pair_columns, why_not_pairs

if TYPE_CHECKING:
    from torch import Tensor

TIMED = 5
"""Batches before the time left is estimated."""
CHECKPOINT_EVERY = 50
"""Batches between two checkpoints."""
STRETCH = 50
"""Batches that are sorted together."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Settings of a training. `patience` is the number of epochs without a better held-out score."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float = 0.0
    clip: float = 1.0
    warmup: float = 0.0
    linear: bool = False
    patience: int = 3
    balance: bool = True
    pairwise: float = 0.0
    stop_on: StopOn = "auto"
    accumulate: int = 1
    rdrop: float = 0.0
    adversarial: float = 0.0
    average: bool = False
    half: bool = False
    end: float = 1.0
    seed: int = 0


def plan_of(options: Any, seed: int, *, linear: bool = False) -> TrainingPlan:
    """Return the plan of a network's or an encoder's options, which share names."""
    own = {field.name: getattr(options, field.name) for field in fields(TrainingPlan) if hasattr(options, field.name)}
    return TrainingPlan(**own, seed=seed, linear=linear)


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training texts. The score is of the held-out part, None without one."""

    number: int
    loss: float
    score: float | None
    kept: bool


class TimeLeft:
    """Time that the rest of a training takes, from its first batches on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start: tuple[int, float] | None = None

    def left(self, done: int, total: int) -> str:
        """Return the estimate as words to add to a progress line; empty while it would be a guess."""
        now = self._clock()
        if self._start is None:  # the first batch warms up
            self._start = done, now
        batches, seconds = done - self._start[0], now - self._start[1]
        if batches < TIMED:
            return ""
        minutes = seconds / batches * (total - done) / 60
        return f", at most {minutes:.0f} min left" if minutes >= 1 else ""


class Course:
    """A training under way: where it is, the best weights so far, and what happened."""

    def __init__(self, network: nn.Module, plan: TrainingPlan) -> None:
        self.network, self.plan = network, plan
        self.optimiser = Optimiser(network, plan.learning_rate, plan.weight_decay, plan.clip, plan.warmup, plan.linear)
        self.epoch = self.batch = self.stale = 0
        self.total, self.seen = 0.0, 0
        self.best: tuple[float, float] = (-np.inf, -np.inf)
        self.best_state = _copy(network)
        self.history: list[Epoch] = []

    def save(self, checkpoint: Checkpoint) -> None:
        """Write everything that the rest of the training depends on."""
        facts = {
            "epoch": self.epoch, "batch": self.batch, "stale": self.stale, "total": self.total,
            "seen": self.seen, "best": list(self.best) if np.isfinite(self.best[0]) else None,
            "history": [asdict(epoch) for epoch in self.history],
        }  # fmt: skip
        checkpoint.save(self.network, self.optimiser, self.best_state, facts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue where the checkpoint was written, if there is one."""
        found = checkpoint.restore(self.network, self.optimiser)
        if found is None:
            return
        self.best_state, facts = found
        self.epoch, self.batch, self.stale = facts["epoch"], facts["batch"], facts["stale"]
        self.total, self.seen = facts["total"], facts["seen"]
        self.best = tuple(facts["best"]) if facts["best"] else self.best
        self.history = [Epoch(**epoch) for epoch in facts["history"]]

    def end_epoch(self, quality: tuple[float, float] | None, mean: Average | None) -> None:
        """Record an epoch; keep its weights if they are the best, or add them to the average."""
        kept = quality is None or quality > self.best
        loss = self.total / max(self.seen, 1)
        self.history.append(Epoch(self.epoch + 1, loss, None if quality is None else quality[0], kept))
        if mean is not None and self.epoch + 1 > self.plan.epochs // 2:
            mean.add(_copy(self.network))
        if kept:
            self.best, self.best_state, self.stale = quality or self.best, _copy(self.network), 0
        else:
            self.stale += 1
        self.epoch, self.batch, self.total, self.seen = self.epoch + 1, 0, 0.0, 0


def train(
    network: nn.Module,
    training: Training,
    held_out: Training | None,
    plan: TrainingPlan,
    device: torch.device,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Epoch]:
    """Train in place; the network ends in the state after its best epoch.

    With `average` it ends in the mean of the later half of its epochs. With a checkpoint, a training that was
    killed continues where it was, and ends with the same weights.
    """
    network.to(device)
    course = Course(network, plan)
    mean = Average() if plan.average else None
    if checkpoint is not None:
        course.restore(checkpoint)
    timer = TimeLeft(clock)
    while course.epoch < plan.epochs and course.stale < plan.patience:
        _run_epoch(course, training, plan, device, progress, checkpoint, timer)
        quality = None if held_out is None else _evaluate(network, held_out, plan, device)
        course.end_epoch(quality, mean)
        if checkpoint is not None:
            course.save(checkpoint)
    network.load_state_dict(course.best_state if mean is None or not mean.count else mean.mean, strict=False)
    return course.history


def _run_epoch(
    course: Course,
    training: Training,
    plan: TrainingPlan,
    device: torch.device,
    progress: Progress,
    checkpoint: Checkpoint | None,
    timer: TimeLeft,
) -> None:
    """Train the rest of an epoch."""
    course.network.train()
    rows = len(training.labels)
    units = sequence_units(training.sequences) if plan.pairwise else [[row] for row in range(rows)]
    codes = _codes(units, rows)
    weights = torch.tensor(row_weights(training, plan.balance), device=device)
    batches = shuffled_units(units, training.texts.lengths, plan.batch_size, plan.seed, course.epoch)
    for at in range(course.batch, len(batches)):
        batch = batches[at]
        done = (course.epoch + at / len(batches)) / (plan.epochs * plan.end)
        if done >= 1:
            break
        loss = _loss(course.network, training, batch, codes, weights, plan, device)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(f"training diverged in epoch {course.epoch + 1}: lower learning_rate")
        last = (at + 1) % plan.accumulate == 0 or at + 1 == len(batches)
        course.optimiser.step(loss / plan.accumulate, done, last=last)
        course.total, course.seen = course.total + value * len(batch), course.seen + len(batch)
        course.batch = at + 1
        left = timer.left(course.epoch * len(batches) + at + 1, plan.epochs * len(batches))
        progress(f"epoch {course.epoch + 1} of {plan.epochs}{left}", course.epoch * rows + course.seen,
                 plan.epochs * rows)  # fmt: skip
        if checkpoint is not None and last and course.batch % CHECKPOINT_EVERY == 0:
            course.save(checkpoint)


def _loss(
    network: nn.Module,
    training: Training,
    batch: Sequence[int],
    codes: NDArray[np.int64],
    weights: Tensor,
    plan: TrainingPlan,
    device: torch.device,
) -> Tensor:
    """Return the loss of a batch: rows, pairs, and the additions the plan asks for."""
    labels = torch.from_numpy(training.labels[list(batch)].astype(np.int64)).to(device)

    heads = None if training.heads is None else torch.from_numpy(training.heads[list(batch)]).to(device)

    def of_head(logits: Tensor) -> Tensor:
        loss = row_loss(logits, labels, weights[list(batch)])
        if plan.pairwise:
            pairs = pair_loss(logits, labels, codes[list(batch)].tolist())
            loss = (1 - plan.pairwise) * loss + plan.pairwise * pairs
        return loss

    def one_pass() -> tuple[Tensor, Tensor]:
        logits = _logits(network, training.texts, batch, device, plan.half)
        shared, own = logits[:, :2], with_heads(logits, heads)
        return (of_head(shared) if heads is None else (of_head(shared) + of_head(own)) / 2), own

    loss, logits = one_pass()
    if plan.rdrop:
        other, again = one_pass()
        loss = (loss + other) / 2 + plan.rdrop * disagreement(logits, again)
    if plan.adversarial:
        loss = (loss + attacked(network, plan.adversarial, lambda: one_pass()[0])) / 2
    return loss


def _codes(units: Sequence[Sequence[int]], rows: int) -> NDArray[np.int64]:
    codes = np.empty(rows, dtype=np.int64)
    for code, unit in enumerate(units):
        codes[list(unit)] = code
    return codes


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in trained_weights(network).items()}


def _logits(network: nn.Module, texts: Texts, rows: Sequence[int], device: torch.device, half: bool = False) -> Tensor:
    inputs = {name: value.to(device) for name, value in texts.batch(rows).items()}
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        answer = network(**inputs)
    logits: Tensor = answer.logits if hasattr(answer, "logits") else answer
    return logits.float() if half else logits


def with_heads(logits: Tensor, heads: Tensor | None) -> Tensor:
    """Return the two logits of each row by the head of its corpus; a corpus of -1 has none but the shared one."""
    if heads is None:
        return logits[:, :2]
    own = logits.gather(1, (heads + 2).clamp(min=2)[:, None]) * (heads >= 0)[:, None]
    return logits[:, :2] + torch.cat([-own / 2, own / 2], dim=1)


def margins(
    network: nn.Module, texts: Texts, size: int, device: torch.device, heads: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the logit of sarcastic minus that of sincere for every text, in order."""
    network.eval()
    out = np.zeros(len(texts.lengths))
    with torch.inference_mode():
        for rows in by_length(texts.lengths, size):
            chosen = None if heads is None else torch.from_numpy(heads[rows]).to(device)
            logits = with_heads(_logits(network, texts, rows, device), chosen).double().cpu().numpy()
            out[rows] = logits[:, 1] - logits[:, 0]
    return out


def _evaluate(network: nn.Module, held_out: Training, plan: TrainingPlan, device: torch.device) -> tuple[float, float]:
    """Return the held-out score and, to break ties, the negative loss; higher is better."""
    scores = margins(network, held_out.texts, plan.batch_size, device)
    losses = np.logaddexp(0, np.where(held_out.labels, -scores, scores))
    by_label = [losses[held_out.labels].mean(), losses[~held_out.labels].mean()]
    loss = float(np.mean(by_label) if plan.balance else losses.mean())
    return (-loss if plan.stop_on == "loss" else _score(held_out, scores, plan)), -loss


def _score(held_out: Training, scores: NDArray[np.float64], plan: TrainingPlan) -> float:
    truth = held_out.labels.tolist()
    no_pairs = why_not_pairs(truth, held_out.sequences)
    if plan.stop_on == "pair_accuracy" and no_pairs:
        raise ConfigError(f"stop_on pair_accuracy: the held-out part has {no_pairs}; use auto")
    if plan.stop_on == "pair_accuracy" or (plan.stop_on == "auto" and not no_pairs):
        columns = pair_columns(truth, (scores > 0).tolist(), scores.tolist(), held_out.sequences)
        return float(columns[:, 0].sum() / columns[:, 1].sum())
    if plan.stop_on in ("auto", "auc"):
        return area_under_curve(held_out.labels, scores)
    score = {"f1": f1, "macro_f1": macro_f1, "balanced_accuracy": balanced_accuracy}[plan.stop_on]
    return float(score(confusion(truth, (scores > 0).tolist())))


class Texts(Protocol):
    """Encoded texts, one row each, as the trainer needs them."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each row."""
        ...

    def batch(self, rows: Sequence[int]) -> Mapping[str, Tensor]:
        """Return the keyword arguments of the network for these rows, padded."""
        ...


@dataclass(frozen=True, slots=True)
class Training:
    """Encoded texts, their labels, the sequence of each (empty: none), and the number of its corpus' head."""

    texts: Texts
    labels: NDArray[np.bool_]
    sequences: Sequence[str]
    heads: NDArray[np.int64] | None = None


def shuffled_units(
    units: Sequence[Sequence[int]], lengths: NDArray[np.int64], size: int, seed: int, epoch: int
) -> list[list[int]]:
    """Return batches of about `size` rows that keep the rows of a unit together."""
    random = np.random.default_rng((seed, epoch))
    longest = np.array([max(lengths[row] for row in unit) for unit in units])
    order = random.permutation(len(units))
    rows_a_unit = max(1.0, float(np.mean([len(unit) for unit in units])))
    units_a_batch = max(1, round(size / rows_a_unit))
    stretch = STRETCH * units_a_batch
    batches: list[list[int]] = []
    for start in range(0, len(order), stretch):
        part = order[start : start + stretch]
        part = part[np.argsort(longest[part], kind="stable")]
        for at in range(0, len(part), units_a_batch):
            batches.append([row for unit in part[at : at + units_a_batch] for row in units[unit]])
    return [batches[at] for at in random.permutation(len(batches))]


def sequence_units(sequences: Sequence[str]) -> list[list[int]]:
    """Return the rows of each sequence as one unit; a row without a sequence is its own unit."""
    units: dict[str, list[int]] = {}
    for row, sequence in enumerate(sequences):
        units.setdefault(sequence or f"\0{row}", []).append(row)
    return list(units.values())


def by_length(lengths: NDArray[np.int64], size: int) -> list[list[int]]:
    """Return batches of `size` rows for prediction, the longest first: memory runs out at once or never."""
    order = np.argsort(-lengths, kind="stable").tolist()
    return [order[start : start + size] for start in range(0, len(order), size)]


def class_weights(labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Return weights that give both labels the same total weight, 1 on average."""
    sarcastic = float(labels.mean())
    return 0.5 / (1 - sarcastic), 0.5 / sarcastic


def row_weights(training: Training, balance: bool) -> NDArray[np.float32]:
    """Return a weight per row under which both labels count equally, in each corpus that has a head."""
    weights = np.ones(len(training.labels), dtype=np.float32)
    corpora = np.zeros(len(weights), dtype=np.int64) if training.heads is None else training.heads
    for corpus in np.unique(corpora) if balance else ():
        rows = corpora == corpus
        if 0 < training.labels[rows].sum() < rows.sum():
            sincere, sarcastic = class_weights(training.labels[rows])
            weights[rows] = np.where(training.labels[rows], sarcastic, sincere)
    return weights


def row_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Return the mean cross-entropy, over rows, not weights, so that a batch of one label keeps its scale."""
    return (functional.cross_entropy(logits, labels, reduction="none") * weights).mean()


def pair_loss(logits: Tensor, labels: Tensor, sequences: Sequence[int]) -> Tensor:
    """Return the mean of log(1 + exp(m_sincere - m_sarcastic)) over the pairs of a sequence.

    m is the margin, the logit of sarcastic minus that of sincere: what a balanced benchmark compares.
    """
    codes = torch.tensor(sequences, device=logits.device)
    margins = logits[:, 1] - logits[:, 0]
    same = (codes[:, None] == codes[None, :]) & (codes[:, None] >= 0)
    pairs = same & (labels[:, None] == 1) & (labels[None, :] == 0)
    if not pairs.any():
        return margins.sum() * 0
    return functional.softplus(margins[None, :] - margins[:, None])[pairs].mean()


def disagreement(first: Tensor, second: Tensor) -> Tensor:
    """Return the mean symmetric divergence of two passes with different dropout (Liang et al. 2021)."""
    left, right = functional.log_softmax(first, -1), functional.log_softmax(second, -1)
    forth = functional.kl_div(left, right, reduction="batchmean", log_target=True)
    back = functional.kl_div(right, left, reduction="batchmean", log_target=True)
    return (forth + back) / 2


def attacked(network: nn.Module, size: float, loss: Callable[[], Tensor]) -> Tensor:
    """Return the loss after the input embeddings were moved by `size` against it (Miyato et al. 2017).

    The attack is on the output of the embedding layer, so it works where the table itself is frozen.
    """
    table = next(module for module in network.modules() if isinstance(module, nn.Embedding))
    kept: list[Tensor] = []

    def keep(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        shown = output.detach().requires_grad_()
        kept.append(shown)
        return shown

    with table.register_forward_hook(keep):
        (slope,) = torch.autograd.grad(loss(), kept[:1])
    length = torch.linalg.vector_norm(slope)
    move = size * slope / length if length > 0 else torch.zeros_like(slope)
    with table.register_forward_hook(lambda module, inputs, output: output + move):
        return loss()


class Average:
    """The mean of the weights after several epochs (stochastic weight averaging, Izmailov et al. 2018)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: dict[str, Tensor] = {}

    def add(self, state: dict[str, Tensor]) -> None:
        """Add the weights of one more epoch."""
        self.count += 1
        for name, value in state.items():
            if not value.is_floating_point():
                self.mean[name] = value.detach().clone()
            elif name in self.mean:
                self.mean[name] += (value.detach() - self.mean[name]) / self.count
            else:
                self.mean[name] = value.detach().clone()
