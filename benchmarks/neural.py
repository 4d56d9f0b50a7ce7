"""One epoch of each network here, and of the same network written plainly in PyTorch without bucketing.

    python benchmarks/neural.py [--system lstm ...] [--texts 1000] [--repeats 3]

Both read the same texts (r/politics responses of SARC if DEADPAN_DATA names its folder, else made-up ones of such
lengths), with the same vocabulary, sizes, batch size and optimiser settings, in one thread. Plain means: a
DataLoader that shuffles, batches padded to their longest text, a dense word table under torch.optim.Adam,
torch's own Conv1d, pairs of words joined as vectors. Processor time is compared, the least of the repeats,
taken in turns: on a busy machine the clock on the wall says little.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from deadpan.detect import SYSTEMS
from deadpan.detect.neural.networks import Shape
from deadpan.detect.neural.system import WIDTH, moods
from deadpan.detect.neural.texts import NumberedTexts, Vocabulary, words
from deadpan.detect.neural.training import Training, TrainingPlan, train
from deadpan.progress import silent

DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
NETWORKS = ("lstm", "att-lstm", "cnn", "siarn", "miarn", "3cnn", "dense-lstm")
DIMENSION = HIDDEN = 100
BATCH = 64
RATE, CLIP = 1e-3, 1.0
CPU = torch.device("cpu")
BAR = 1.0


def read_texts(count: int) -> tuple[list[str], list[bool], str]:
    """Texts and labels, and what they are."""
    if DATA.is_dir():
        from deadpan.datasets import read_dataset

        examples = [e for e in read_dataset("sarc-pol", DATA) if e.label is not None]
        examples = random.Random(0).sample(examples, min(count, len(examples)))
        return [e.response.text for e in examples], [bool(e.label) for e in examples], "sarc-pol responses"
    chance = np.random.default_rng(0)
    lengths = np.clip(chance.lognormal(2.5, 0.6, count), 1, 100).astype(int)
    texts = [" ".join(f"w{w}" for w in chance.zipf(1.3, n) % 20_000) for n in lengths]
    return texts, [bool(n % 2) for n in range(count)], "made-up texts"


# ---------------------------------------------------------------- the same networks, plainly


class Plain(nn.Module):
    """Each architecture as one would write it first."""

    def __init__(self, name: str, vocabulary: int) -> None:
        super().__init__()
        self.name = name
        self.table = nn.Embedding(vocabulary, DIMENSION, padding_idx=0)
        self.dropout = nn.Dropout(0.3)
        depth = 4 if name == "dense-lstm" else 0 if "cnn" in name else 1
        self.lstms = nn.ModuleList(nn.LSTM(DIMENSION + at * HIDDEN, HIDDEN, batch_first=True) for at in range(depth))
        sizes = {"cnn": (3,), "3cnn": (3, 4, 5)}.get(name, ())
        self.convolutions = nn.ModuleList(nn.Conv1d(DIMENSION, HIDDEN, size, padding=size // 2) for size in sizes)
        self.look, self.query = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1, bias=False)
        self.pair = nn.Linear(2 * DIMENSION, HIDDEN if name == "miarn" else 1)
        self.project = nn.Linear(HIDDEN, 1)
        width = {"siarn": 200, "miarn": 200, "3cnn": 300, "dense-lstm": 200 + WIDTH}.get(name, 100)
        self.hidden = nn.Linear(width, HIDDEN) if name not in ("lstm", "att-lstm") else None
        self.out = nn.Linear(HIDDEN, 2)

    def forward(self, numbers: Tensor, lengths: Tensor, features: Tensor) -> Tensor:
        vectors = self.dropout(self.table(numbers))
        inside = torch.arange(numbers.shape[1])[None] < lengths[:, None]
        text = self.encode(vectors, inside, lengths, features)
        if self.hidden is not None:
            text = torch.relu(self.hidden(text))
        return self.out(self.dropout(text))

    def encode(self, vectors: Tensor, inside: Tensor, lengths: Tensor, features: Tensor) -> Tensor:
        if self.convolutions:
            # A filter of even size gives one place more than there are words.
            seen = [torch.relu(c(vectors.transpose(1, 2)))[:, :, : inside.shape[1]] for c in self.convolutions]
            return torch.cat([s.masked_fill(~inside[:, None], 0).amax(dim=2) for s in seen], dim=1)
        read = vectors
        for lstm in self.lstms:
            states, _ = lstm(read)
            read = torch.cat([read, self.dropout(states)], dim=2)
        last = states[torch.arange(len(lengths)), lengths - 1]
        if self.name == "att-lstm":
            scores = self.query(torch.tanh(self.look(states)))[:, :, 0].masked_fill(~inside, -1e9)
            return (torch.softmax(scores, dim=1)[:, :, None] * states).sum(dim=1)
        if self.name in ("siarn", "miarn"):
            return torch.cat([self.intra(vectors, inside), last], dim=1)
        if self.name == "dense-lstm":
            mean = vectors.sum(dim=1) / lengths[:, None]
            return torch.cat([last, mean, features], dim=1)
        return last

    def intra(self, vectors: Tensor, inside: Tensor) -> Tensor:
        rows, width, size = vectors.shape
        left = vectors[:, :, None, :].expand(rows, width, width, size)
        right = vectors[:, None, :, :].expand(rows, width, width, size)
        affinity = self.pair(torch.cat([left, right], dim=3))
        if self.name == "miarn":
            affinity = self.project(torch.relu(affinity))
        hidden = torch.eye(width, dtype=torch.bool)[None] | ~inside[:, None, :]
        scores = affinity[:, :, :, 0].masked_fill(hidden, -1e9).amax(dim=2).masked_fill(~inside, -2e9)
        return (torch.softmax(scores, dim=1)[:, :, None] * vectors).sum(dim=1)


def plain_epoch(name: str, rows: list[list[int]], features: Tensor, labels: list[bool], vocabulary: int) -> float:
    """Seconds of processor time for one epoch."""
    torch.manual_seed(0)
    network = Plain(name, vocabulary)
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)

    def collate(places: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        chosen = [torch.tensor(rows[at]) for at in places]
        lengths = torch.tensor([len(row) for row in chosen])
        truth = torch.tensor([int(labels[at]) for at in places])
        return pad_sequence(chosen, batch_first=True), lengths, features[places], truth

    loader = DataLoader(list(range(len(rows))), batch_size=BATCH, shuffle=True, collate_fn=collate)
    begun = time.process_time()
    for numbers, lengths, more, truth in loader:
        optimiser.zero_grad()
        loss = functional.cross_entropy(network(numbers, lengths, more), truth)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        optimiser.step()
    return time.process_time() - begun


def our_epoch(name: str, training: Training, vocabulary: int) -> float:
    """Seconds of processor time for one epoch of the shared trainer."""
    torch.manual_seed(0)
    start = torch.randn(vocabulary, DIMENSION) * 0.3
    features = WIDTH if name == "dense-lstm" else 0
    network = SYSTEMS.load(name)().build(Shape(start, HIDDEN, 0.3, features, sparse=True))
    plan = TrainingPlan(epochs=1, batch_size=BATCH, learning_rate=RATE, clip=CLIP, balance=False)
    begun = time.process_time()
    train(network, training, None, plan, CPU, silent)
    return time.process_time() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", nargs="*", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--texts", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    texts, labels, what = read_texts(options.texts)
    tokens = [words(text, 100) or ["<nothing>"] for text in texts]
    vocabulary = Vocabulary.of(tokens, 1, 50_000)
    rows = [vocabulary.numbers(text) for text in tokens]
    features = moods(texts)
    print(f"{len(rows)} {what}, {len(vocabulary)} words, {np.mean([len(r) for r in rows]):.1f} a text on average")
    print(f"{'system':12}{'plain s/epoch':>15}{'here s/epoch':>15}{'times faster':>15}")
    slower = []
    for name in options.system:
        given = NumberedTexts(rows, features if name == "dense-lstm" else None)
        training = Training(given, np.array(labels), [""] * len(rows))
        plain, ours = [], []
        for _ in range(options.repeats):
            plain.append(plain_epoch(name, rows, torch.from_numpy(features), labels, len(vocabulary)))
            ours.append(our_epoch(name, training, len(vocabulary)))
        ratio = min(plain) / min(ours)
        slower += [name] if ratio < BAR else []
        print(f"{name:12}{min(plain):15.2f}{min(ours):15.2f}{ratio:15.2f}", flush=True)
    print(f"ratio to plain PyTorch: below {BAR:g} for {', '.join(slower)}" if slower else "none slower than plain")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
