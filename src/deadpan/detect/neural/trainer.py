"""The one training loop: bucketed batches, class weights, clipping, and a stop when it gets no better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deadpan.detect.neural.batches import Texts, Training, by_length, sequence_units, shuffled_units
from deadpan.detect.neural.objective import class_weights, pair_loss, row_loss
from deadpan.detect.neural.optimiser import Optimiser
from deadpan.detect.neural.options import StopOn
from deadpan.detect.system import Progress
from deadpan.errors import ConfigError, ModelError
from deadpan.stats import balanced_accuracy, confusion, f1, macro_f1
from deadpan.stats.sequences import pair_columns, why_not_pairs


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train. `patience` is how many epochs may pass without a better score on the held-out part."""

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
    seed: int = 0


def plan_of(options: Any, seed: int, *, linear: bool = False) -> Plan:
    """The plan that options of a network or of an encoder come to; they name what they share alike."""
    own = {field.name: getattr(options, field.name) for field in fields(Plan) if hasattr(options, field.name)}
    return Plan(**own, seed=seed, linear=linear)


@dataclass(frozen=True, slots=True)
class Epoch:
    """One time through the training texts. The score is of the held-out part, None without one."""

    number: int
    loss: float
    score: float | None
    kept: bool


def train(
    network: nn.Module,
    training: Training,
    held_out: Training | None,
    plan: Plan,
    device: torch.device,
    progress: Progress,
) -> list[Epoch]:
    """Train in place; the network ends as it was after its best epoch."""
    network.to(device)
    optimiser = Optimiser(network, plan.learning_rate, plan.weight_decay, plan.clip, plan.warmup, plan.linear)
    history: list[Epoch] = []
    best, best_state, stale = (-np.inf, -np.inf), _copy(network), 0
    for number in range(plan.epochs):
        loss = _run_epoch(network, optimiser, training, plan, number, device, progress)
        found = None if held_out is None else _judge(network, held_out, plan, device)
        kept = found is None or found > best
        history.append(Epoch(number + 1, loss, None if found is None else found[0], kept))
        if kept:
            best, best_state, stale = found or best, _copy(network), 0
            continue
        stale += 1
        if stale >= plan.patience:
            break
    network.load_state_dict(best_state)
    return history


def _run_epoch(
    network: nn.Module,
    optimiser: Optimiser,
    training: Training,
    plan: Plan,
    number: int,
    device: torch.device,
    progress: Progress,
) -> float:
    """The mean loss over the batches of one epoch."""
    network.train()
    rows = len(training.labels)
    units = sequence_units(training.sequences) if plan.pairwise else [[row] for row in range(rows)]
    codes = _codes(units, rows)
    weights = torch.tensor(class_weights(training.labels), device=device) if plan.balance else None
    batches = shuffled_units(units, training.texts.lengths, plan.batch_size, plan.seed, number)
    total, seen = 0.0, 0
    for at, batch in enumerate(batches):
        labels = torch.from_numpy(training.labels[batch].astype(np.int64)).to(device)
        logits = _logits(network, training.texts, batch, device)
        loss = row_loss(logits, labels, weights)
        if plan.pairwise:
            loss = (1 - plan.pairwise) * loss + plan.pairwise * pair_loss(
                logits, labels, codes[batch].tolist()
            )
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(f"training went astray in epoch {number + 1}: lower learning_rate")
        optimiser.step(loss, (number + at / len(batches)) / plan.epochs)
        total, seen = total + value * len(batch), seen + len(batch)
        progress(f"epoch {number + 1} of {plan.epochs}", seen, rows)
    return total / seen


def _codes(units: Sequence[Sequence[int]], rows: int) -> NDArray[np.int64]:
    codes = np.empty(rows, dtype=np.int64)
    for code, unit in enumerate(units):
        codes[list(unit)] = code
    return codes


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _logits(network: nn.Module, texts: Texts, rows: Sequence[int], device: torch.device) -> Tensor:
    given = {name: value.to(device) for name, value in texts.batch(rows).items()}
    answer = network(**given)
    logits: Tensor = answer.logits if hasattr(answer, "logits") else answer
    return logits


def margins(network: nn.Module, texts: Texts, size: int, device: torch.device) -> NDArray[np.float64]:
    """The logit of sarcastic less that of not, for every text in its order."""
    network.eval()
    out = np.zeros(len(texts.lengths))
    with torch.inference_mode():
        for rows in by_length(texts.lengths, size):
            logits = _logits(network, texts, rows, device).double().cpu().numpy()
            out[rows] = logits[:, 1] - logits[:, 0]
    return out


def _judge(network: nn.Module, held_out: Training, plan: Plan, device: torch.device) -> tuple[float, float]:
    """How well the network does on the held-out part; more is better, and less loss where that is equal."""
    found = margins(network, held_out.texts, plan.batch_size, device)
    losses = np.logaddexp(0, np.where(held_out.labels, -found, found))
    by_label = [losses[held_out.labels].mean(), losses[~held_out.labels].mean()]
    loss = float(np.mean(by_label) if plan.balance else losses.mean())
    return (-loss if plan.stop_on == "loss" else _score(held_out, found, plan)), -loss


def _score(held_out: Training, found: NDArray[np.float64], plan: Plan) -> float:
    truth = held_out.labels.tolist()
    no_pairs = why_not_pairs(truth, held_out.sequences)
    if plan.stop_on == "pair_accuracy" and no_pairs:
        raise ConfigError(f"stop_on pair_accuracy: the held-out part has {no_pairs}; use auto")
    if plan.stop_on == "pair_accuracy" or (plan.stop_on == "auto" and not no_pairs):
        columns = pair_columns(truth, (found > 0).tolist(), found.tolist(), held_out.sequences)
        return float(columns[:, 0].sum() / columns[:, 1].sum())
    if plan.stop_on in ("auto", "auc"):
        return _auc(held_out.labels, found)
    score = {"f1": f1, "macro_f1": macro_f1, "balanced_accuracy": balanced_accuracy}[plan.stop_on]
    return float(score(confusion(truth, (found > 0).tolist())))


def _auc(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """The share of pairs of a sarcastic and another text in which the first scores higher; ties are half."""
    values, places = np.unique(scores, return_inverse=True)
    sarcastic = np.bincount(places[labels], minlength=len(values))
    others = np.bincount(places[~labels], minlength=len(values))
    below = np.cumsum(others) - others
    return float((sarcastic * (below + others / 2)).sum() / (sarcastic.sum() * others.sum()))
