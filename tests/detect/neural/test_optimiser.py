"""A training that is killed resumes and ends with the same weights; recipes are settings that change a loss."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch

from deadpan.detect.neural import training as training_loop
from deadpan.detect.neural.optimiser import Checkpoint
from deadpan.detect.neural.training import Average, TimeLeft, Training, TrainingPlan, attacked, disagreement, train
from deadpan.errors import ConfigError

CPU = torch.device("cpu")


class Rows:
    """Two words per text."""

    lengths = np.full(40, 2)
    numbers = torch.tensor([[n % 5, 5 + n % 2] for n in range(40)])

    def batch(self, rows):
        return {"words": self.numbers[list(rows)]}


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table = torch.nn.Embedding(7, 8)
        self.drop = torch.nn.Dropout(0.2)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, words):
        return self.head(self.drop(self.table(words).mean(1)))


def run(checkpoint=None, stop_at=None, **more):
    """Train; `stop_at` batches later something like kill -9 happens."""
    told = []

    def progress(what, done, total):
        told.append(done)
        if stop_at is not None and len(told) == stop_at:
            raise KeyboardInterrupt

    network = Small()
    data = Training(Rows(), np.arange(40) % 2 == 0, [""] * 40)
    plan = TrainingPlan(**{"epochs": 4, "batch_size": 4, "learning_rate": 0.05, **more})
    torch.manual_seed(5)
    try:
        history = train(network, data, data, plan, CPU, progress, checkpoint)
    except KeyboardInterrupt:
        return None
    return network.state_dict(), history, len(told)


@pytest.mark.parametrize("stop_at", [3, 8, 17, 39])
def test_it_resumes_and_ends_with_the_same_weights(tmp_path, monkeypatch, stop_at):
    monkeypatch.setattr(training_loop, "CHECKPOINT_EVERY", 2)
    whole, history, steps = run()
    assert run(Checkpoint(tmp_path, {"a": 1}), stop_at=stop_at) is None
    again, told, more = run(Checkpoint(tmp_path, {"a": 1}))
    assert more < steps and told == history
    assert all(torch.equal(again[name], value) for name, value in whole.items())


def test_a_checkpoint_that_is_torn_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(training_loop, "CHECKPOINT_EVERY", 2)
    whole, _, _ = run()
    run(Checkpoint(tmp_path, {}), stop_at=12)
    newest = max(tmp_path.glob("*.safetensors"), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:-40])
    again, _, _ = run(Checkpoint(tmp_path, {}))
    assert all(torch.equal(again[name], value) for name, value in whole.items())


def test_a_checkpoint_of_another_training_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(training_loop, "CHECKPOINT_EVERY", 2)
    run(Checkpoint(tmp_path, {"examples": "a"}), stop_at=12)
    with pytest.raises(ConfigError, match="another training"):
        run(Checkpoint(tmp_path, {"examples": "b"}))


def test_two_small_batches_make_the_step_of_a_large_one():
    network = Small().eval()
    large, small = [], []
    for store, accumulate in ((large, 1), (small, 2)):
        network = Small()
        network.drop.p = 0.0
        plan = TrainingPlan(epochs=1, batch_size=40 // accumulate, learning_rate=0.05, balance=False, clip=0.0,
                            accumulate=accumulate)  # fmt: skip
        train(network, Training(Rows(), np.arange(40) % 2 == 0, [""] * 40), None, plan, CPU, lambda *_: None)
        store.append(network.head.weight.detach())
    assert torch.allclose(large[0], small[0], atol=1e-5)


@pytest.mark.parametrize("setting", [{"rdrop": 1.0}, {"adversarial": 0.5}, {"average": True}])
def test_recipes_learn_and_change_the_weights(setting):
    plain, _, _ = run()
    tuned, history, _ = run(**setting)
    assert not torch.equal(plain["head.weight"], tuned["head.weight"])
    assert history[-1].score > 0.9


def test_two_equal_passes_do_not_disagree():
    logits = torch.randn(4, 2)
    assert float(disagreement(logits, logits)) == pytest.approx(0, abs=1e-6)
    assert float(disagreement(logits, -logits)) > 0


def test_an_attack_makes_the_loss_larger():
    network = Small().eval()
    data, labels = Rows().batch(range(8))["words"], torch.tensor([0, 1] * 4)

    def loss():
        return torch.nn.functional.cross_entropy(network(data), labels)

    assert attacked(network, 0.5, loss).item() > loss().item()
    assert attacked(network, 0.0, loss).item() == pytest.approx(loss().item())


def test_an_average_is_the_mean():
    mean = Average()
    for value in (1.0, 2.0, 6.0):
        mean.add({"w": torch.tensor([value]), "n": torch.tensor([1])})
    assert mean.mean["w"].item() == pytest.approx(3.0)


def test_the_time_left_is_told_after_a_few_batches():
    ticks = iter(range(0, 10_000, 30))
    timer = TimeLeft(lambda: float(next(ticks)))
    said = [timer.left(done, 20) for done in range(1, 21)]
    assert said[:5] == [""] * 5
    assert said[5] == ", at most 7 min left" and said[-1] == ""
