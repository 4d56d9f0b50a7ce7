"""The networks as systems: they learn, stop in time, come back from disk, and say what is wrong."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from deadpan.detect import SYSTEMS
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError, MissingExtra, ModelError
from deadpan.records import Example, Turn

NAMES = ["lstm", "att-lstm", "cnn", "siarn", "miarn", "3cnn", "dense-lstm"]
SMALL = {"dimension": 12, "hidden": 12, "epochs": 8, "batch_size": 16, "learning_rate": 0.01, "dropout": 0.1,
         "device": "cpu", "min_count": 1}  # fmt: skip
PRAISE = ["love", "great", "wonderful", "perfect"]
TROUBLE = ["delay", "monday", "headache", "traffic", "bill"]
JOYS = ["holiday", "sunday", "cake", "song", "friend"]


def clashes(repeats: int = 2) -> list[Example]:
    """Praise of trouble is sarcastic, praise of joys is not: no single praising word tells."""
    rows = []
    for turn in range(repeats):
        for praise in PRAISE:
            for label, things in ((True, TROUBLE), (False, JOYS)):
                for thing in things:
                    text = f"{praise} the {thing} {'today' if turn else 'again'}"
                    rows.append(Example(f"{turn}{praise}{thing}", Turn("", text), label=label))
    return rows


def make(name: str, **settings):
    pytest.importorskip("torch")
    return SYSTEMS.load(name)(**{**SMALL, **settings})


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_which_words_clash(name):
    examples = sorted(clashes(), key=lambda example: draw(0, example.id))
    unseen = examples[:20]
    model = make(name, epochs=12, validation=0.0).fit(examples[20:])
    right = [p.label == e.label for p, e in zip(model.predict(unseen), unseen, strict=True)]
    assert np.mean(right) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_scores_saved_or_not(name, tmp_path):
    examples = clashes(1)
    model = make(name, epochs=2, seed=3).fit(examples)
    again = make(name, epochs=2, seed=3).fit(examples)
    other = make(name, epochs=2, seed=4).fit(examples)
    said = model.predict(examples)
    assert said == again.predict(examples) != other.predict(examples)
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["network.json", "networks.safetensors"]
    loaded = type(model).load(tmp_path)
    assert loaded.predict(examples) == said and loaded.settings == model.settings
    assert loaded.history_ == model.history_


def test_context_is_read_when_asked_for():
    """The response is the same; what it answers decides."""
    rows = []
    for number in range(60):
        label = number % 2 == 0
        before = Turn("A", f"{(TROUBLE if label else JOYS)[number % 5]} number {number}")
        rows.append(Example(f"{number}", Turn("B", "how nice"), (before,), label=label))
    blind = make("cnn").fit(rows)
    assert len({p.score for p in blind.predict(rows)}) == 1
    seeing = make("cnn", turns=1, speakers=True).fit(rows)
    assert np.mean([p.label == e.label for p, e in zip(seeing.predict(rows), rows, strict=True)]) > 0.9


def test_several_members_are_averaged_and_differ():
    examples = clashes(1)
    model = make("dense-lstm", epochs=1, members=3, dropout_range=[0.2, 0.4]).fit(examples)
    dropouts = {network.head.layers[2].p for network in model.networks_}
    assert len(dropouts) == 3 and all(0.2 <= p <= 0.4 for p in dropouts)
    networks = model.networks_
    alone = []
    for network in networks:
        model.networks_ = [network]
        alone.append([p.score for p in model.predict(examples)])
    model.networks_ = networks
    together = [p.score for p in model.predict(examples)]
    assert together == pytest.approx(np.mean(alone, axis=0).tolist())
    assert len({tuple(scores) for scores in alone}) == 3


def test_training_stops_when_the_held_out_part_gets_no_better():
    random = np.random.default_rng(0)
    noise = [
        Example(f"{n}", Turn("", " ".join(f"w{w}" for w in random.integers(0, 50, 6))), label=n % 2 == 0)
        for n in range(80)
    ]
    model = make("cnn", epochs=40, patience=2).fit(noise)
    history = model.history_[0]
    assert len(history) < 40
    assert [epoch["kept"] for epoch in history[-2:]] == [False, False]
    best = max(range(len(history)), key=lambda at: history[at]["score"])
    assert best == len(history) - 3 and history[best]["kept"]


def test_without_a_held_out_part_every_epoch_is_run():
    model = make("cnn", epochs=3, validation=0.0).fit(clashes(1))
    assert [epoch["score"] for epoch in model.history_[0]] == [None, None, None]


def test_the_rarer_label_is_found_with_balance():
    """A word that is sarcastic in two of five texts: to be called so only if both labels count alike."""
    rows = [Example(f"{n}", Turn("", "oh well"), label=n % 5 < 2) for n in range(50)]
    rows += [Example(f"plain {n}", Turn("", "the bus is red"), label=False) for n in range(200)]
    said = [make("cnn", balance=balance, validation=0.0).fit(rows).predict(rows)[0] for balance in (True, False)]
    assert said[0].label and not said[1].label


def test_pairs_can_be_trained_as_pairs():
    """Each pair has its own baseline that drowns the label; the difference within it tells."""
    rows = []
    for number in range(40):
        for label in (True, False):
            word = "indeed" if label else "perhaps"
            text = f"topic{number} {word}"
            rows.append(Example(f"{number}{label}", Turn("", text), label=label, sequence=f"p{number}"))
    model = make("cnn", pairwise=1.0, epochs=6).fit(rows)
    scores = {p.example_id: p.score for p in model.predict(rows)}
    won = [scores[f"{n}True"] > scores[f"{n}False"] for n in range(40)]
    assert np.mean(won) > 0.9
    assert all(epoch["score"] is not None for epoch in model.history_[0])


def test_progress_is_told():
    told = []
    model = make("cnn", epochs=2, members=2, validation=0.0)
    model.progress = lambda what, done, total: told.append((what, done, total))
    model.fit(clashes(1))
    assert told[-1] == ("network 2 of 2, epoch 2 of 2", 80, 80)  # both epochs
    assert all(done <= total for _, done, total in told)


def test_torchs_own_random_numbers_go_on_as_if_nothing_had_happened():
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    make("cnn", epochs=1).fit(clashes(1))
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"hidden": 0}, "hidden needs a whole number of at least 1"),
        ({"dropout": 1.5}, "dropout needs a number from 0 to 0.9"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"dropout_range": [0.4, 0.2]}, "dropout_range"),
        ({"stop_on": "accuracy"}, "stop_on"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        SYSTEMS.load("lstm")(**settings)


def test_a_device_that_is_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("it is there")
    with pytest.raises(ConfigError, match="use auto or cpu"):
        make("cnn", device="cuda").fit(clashes(1))


def test_pair_accuracy_without_pairs():
    with pytest.raises(ConfigError, match="use auto"):
        make("cnn", stop_on="pair_accuracy").fit(clashes(1))


def test_a_rate_that_is_too_high_is_told():
    with pytest.raises(ModelError, match="lower learning_rate"):
        make("lstm", learning_rate=1e30, clip=0.0, epochs=4, validation=0.0).fit(clashes(1))


def test_one_label_only():
    only = [replace(e, label=True) for e in clashes(1)]
    with pytest.raises(DataError, match="both labels"):
        SYSTEMS.load("lstm")().fit(only)


def test_a_damaged_or_foreign_folder(tmp_path):
    model = make("cnn", epochs=1).fit(clashes(1))
    model.save(tmp_path)
    with pytest.raises(DataError, match="holds a network 'cnn', not 'lstm'"):
        SYSTEMS.load("lstm").load(tmp_path)
    weights = tmp_path / "networks.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(DataError, match="not a complete file of tensors"):
        type(model).load(tmp_path)


def test_without_torch_the_cure_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises((MissingExtra, ModuleNotFoundError), match="torch"):
        SYSTEMS.load("cnn")(**SMALL).fit(clashes(1))
