"""Layers give a text the same answer alone and in a padded batch, and compute what their papers say."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from deadpan.detect import SYSTEMS  # noqa: E402
from deadpan.detect.neural import networks  # noqa: E402
from deadpan.detect.neural.networks import (  # noqa: E402
    Attention,
    Convolution,
    DenseLstm,
    Embedding,
    Lstm,
    MultiIntraAttention,
    Shape,
    SingleIntraAttention,
    softmax_over_words,
)

DIMENSION, HIDDEN = 6, 5
LAYERS = {
    "lstm": lambda: Lstm(DIMENSION, HIDDEN),
    "attention": lambda: Attention(DIMENSION, HIDDEN),
    "convolution-3": lambda: Convolution(DIMENSION, HIDDEN, 3),
    "convolution-4": lambda: Convolution(DIMENSION, HIDDEN, 4),
    "single": lambda: SingleIntraAttention(DIMENSION),
    "multi": lambda: MultiIntraAttention(DIMENSION, HIDDEN),
    "dense-lstm": lambda: DenseLstm(DIMENSION, HIDDEN, 4, 0.0),
}


def vector_of(layer, vectors, lengths):
    answer = layer(vectors, lengths)
    return answer[1] if isinstance(answer, tuple) else answer


@pytest.fixture(params=list(LAYERS))
def layer(request):
    torch.manual_seed(0)
    return LAYERS[request.param]().eval()


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_padding_changes_nothing(layer, length):
    generator = torch.Generator().manual_seed(length)
    text = torch.randn(1, length, DIMENSION, generator=generator)
    alone = vector_of(layer, text, torch.tensor([length]))
    batch = torch.zeros(2, 11, DIMENSION)
    batch[0, :length] = text[0]
    batch[1] = torch.randn(11, DIMENSION, generator=generator)
    together = vector_of(layer, batch, torch.tensor([length, 11]))
    torch.testing.assert_close(together[0], alone[0])
    assert torch.isfinite(together).all()


@pytest.mark.parametrize("length", [1, 4])
def test_gradients_are_finite_and_stop_at_the_padding(layer, length):
    vectors = torch.randn(1, 9, DIMENSION, generator=torch.Generator().manual_seed(1)).requires_grad_()
    vector_of(layer, vectors, torch.tensor([length])).sum().backward()
    assert torch.isfinite(vectors.grad).all()
    reaches = 2 if isinstance(layer, Convolution) else 0  # windows at the end see what follows
    assert vectors.grad[0, length + reaches :].abs().max() == 0
    assert vectors.grad[0, :length].abs().max() > 0


def pairs_written_out(layer, vectors, score):
    """Tay et al.'s equations word by word: every pair's affinity, row maxima, softmax, weighted sum."""
    rows = []
    for text in vectors:
        best = [
            max(float(score(text[i], text[j]).detach()) for j in range(len(text)) if j != i) for i in range(len(text))
        ]
        rows.append(torch.softmax(torch.tensor(best), dim=0) @ text)
    return torch.stack(rows)


def test_single_intra_attention_is_that_of_the_paper():
    torch.manual_seed(1)
    layer = SingleIntraAttention(DIMENSION)
    weight = torch.cat([layer.first.weight, layer.second.weight], dim=1)[0]
    vectors = torch.randn(3, 5, DIMENSION)
    expected = pairs_written_out(layer, vectors, lambda a, b: weight @ torch.cat([a, b]) + layer.first.bias[0])
    torch.testing.assert_close(layer(vectors, torch.tensor([5, 5, 5])), expected)


def test_multi_intra_attention_is_that_of_the_paper():
    torch.manual_seed(2)
    layer = MultiIntraAttention(DIMENSION, HIDDEN)
    weight = torch.cat([layer.first.weight, layer.second.weight], dim=1)
    vectors = torch.randn(3, 5, DIMENSION)
    expected = pairs_written_out(
        layer, vectors, lambda a, b: layer.project(torch.relu(weight @ torch.cat([a, b]) + layer.first.bias))
    )
    torch.testing.assert_close(layer(vectors, torch.tensor([5, 5, 5])), expected)


def test_convolution_is_torchs_own():
    torch.manual_seed(3)
    layer = Convolution(DIMENSION, HIDDEN, 3)
    plain = torch.nn.Conv1d(DIMENSION, HIDDEN, 3, padding=1)
    with torch.no_grad():
        plain.weight.copy_(layer.filters.weight.view(HIDDEN, 3, DIMENSION).transpose(1, 2))
        plain.bias.copy_(layer.filters.bias)
    vectors = torch.randn(2, 8, DIMENSION)
    expected = torch.relu(plain(vectors.transpose(1, 2))).amax(dim=2)
    torch.testing.assert_close(layer(vectors, torch.tensor([8, 8])), expected)


def test_shares_add_up_to_one_and_padding_has_none():
    shares = softmax_over_words(torch.randn(2, 5), torch.tensor([3, 5]))
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(2))
    assert shares[0, 3:].abs().max() == 0


def test_padding_stays_zero_while_words_are_learned():
    layer = Embedding(torch.randn(4, 3), tune=True, sparse=False, dropout=0.0)
    with torch.no_grad():
        layer.table.weight[0] = 0
    layer(torch.tensor([[1, 2, 0]])).sum().backward()
    assert layer.table.weight.grad[0].abs().max() == 0
    assert layer.table.weight.grad[1].abs().max() > 0


@pytest.mark.parametrize("name", ["lstm", "att-lstm", "cnn", "siarn", "miarn", "3cnn", "dense-lstm"])
def test_a_network_gives_a_text_the_same_answer_in_any_company(name):
    torch.manual_seed(4)
    features = 3 if name == "dense-lstm" else 0
    start = torch.randn(20, DIMENSION)
    start[0] = 0
    system = SYSTEMS.load(name)()
    network = getattr(networks, system.network)(Shape(start, HIDDEN, 0.5, features), *system.layers).eval()
    numbers = torch.tensor([[3, 4, 5, 0, 0, 0], [6, 7, 8, 9, 10, 11]])
    more = (torch.rand(2, features),) if features else ()
    together = network(numbers, torch.tensor([3, 6]), *more)
    alone = network(numbers[:1, :3], torch.tensor([3]), *(m[:1] for m in more))
    assert together.shape == (2, 2)
    torch.testing.assert_close(together[:1], alone)
