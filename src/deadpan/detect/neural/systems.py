"""The seven systems, one per network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadpan.detect.neural.system import NeuralSystem

if TYPE_CHECKING:
    from deadpan.detect.neural.networks import Network, Shape


class LstmSystem(NeuralSystem):
    """One LSTM of dimension 100, its state at the last word."""

    about = "iSarcasm: LSTM"
    architecture = "lstm"

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import LstmNetwork

        return LstmNetwork(shape)


class AttLstm(NeuralSystem):
    """The LSTM with attention over its states, both of dimension 100."""

    about = "iSarcasm: LSTM with attention"
    architecture = "att-lstm"

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import AttentionLstmNetwork

        return AttentionLstmNetwork(shape)


class Cnn(NeuralSystem):
    """100 filters of three words."""

    about = "iSarcasm: convolution"
    architecture = "cnn"

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import ConvolutionNetwork

        return ConvolutionNetwork(shape, (3,))


class ThreeCnn(NeuralSystem):
    """100 filters each of three, four and five words."""

    about = "iSarcasm: three convolutions"
    architecture = "3cnn"

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import ConvolutionNetwork

        return ConvolutionNetwork(shape, (3, 4, 5))


class Siarn(NeuralSystem):
    """Intra-attention with one affinity per pair of words, beside an LSTM."""

    about = "iSarcasm: attention over word pairs, one dimension (Tay et al. 2018)"
    architecture = "siarn"

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import IntraAttentionNetwork

        return IntraAttentionNetwork(shape, several=False)


class Miarn(NeuralSystem):
    """Intra-attention with several affinities per pair of words, beside an LSTM."""

    about = "iSarcasm: attention over word pairs, many dimensions (Tay et al. 2018)"
    architecture = "miarn"
    predicted_together = 32  # pairs of words take memory: 130 MB for 32 texts of 100 words

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import IntraAttentionNetwork

        return IntraAttentionNetwork(shape, several=True)


class DenseLstmSystem(NeuralSystem):
    """Four densely connected LSTM layers, the average word and the mood of the text.

    The ensemble of Wu et al. is `members=10, dropout_range=(0.2, 0.4)`.
    """

    about = "iSarcasm: four densely connected LSTM layers"
    architecture = "dense-lstm"
    reads_mood = True

    def build(self, shape: Shape) -> Network:
        from deadpan.detect.neural.networks import DenseLstmNetwork

        return DenseLstmNetwork(shape)
