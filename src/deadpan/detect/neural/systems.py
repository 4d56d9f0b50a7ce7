"""The seven systems by their registry names; what differs is the network behind each."""

from __future__ import annotations

from deadpan.detect.neural.system import NeuralSystem


class Lstm(NeuralSystem):
    """One LSTM of dimension 100, its state at the last word."""

    architecture = "lstm"


class AttLstm(NeuralSystem):
    """The LSTM with attention over its states, both of dimension 100."""

    architecture = "att-lstm"


class Cnn(NeuralSystem):
    """100 filters of three words."""

    architecture = "cnn"


class ThreeCnn(NeuralSystem):
    """100 filters each of three, four and five words."""

    architecture = "3cnn"


class Siarn(NeuralSystem):
    """Intra-attention with one affinity a pair of words, beside an LSTM."""

    architecture = "siarn"


class Miarn(NeuralSystem):
    """Intra-attention with several affinities a pair of words, beside an LSTM."""

    architecture = "miarn"
    predicted_together = 32  # pairs of words take memory: 130 MB for so many texts of 100 words


class DenseLstm(NeuralSystem):
    """Four densely connected LSTM layers, the average word and the mood of the text.

    The ensemble of Wu et al. is `members=10, dropout_range=(0.2, 0.4)`.
    """

    architecture = "dense-lstm"
    reads_mood = True
