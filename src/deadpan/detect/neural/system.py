"""Networks trained from scratch as systems, one per architecture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural.options import NeuralOptions, find_device, hold_out, seeded
from deadpan.detect.neural.texts import NumberedTexts, Vocabulary, starting_vectors, tokens
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.systems.signals import NAMES, text_signals, word_signals
from deadpan.errors import DataError, need
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json
from deadpan.text import printable
from deadpan.validation import config_from, encode

if TYPE_CHECKING:
    import torch

    from deadpan.detect.neural.networks import Network
    from deadpan.detect.neural.training import Training

WIDTH = len(NAMES)
LOOKED_AT = 4_000  # characters: enough for the sentiment of any text


class NeuralSystem(System):
    """A network of a given architecture, trained from scratch on the words of the conversation."""

    library, extra = "torch", "neural"
    architecture: ClassVar[str]
    network: ClassVar[str]
    """A class of networks.py, which imports torch, and what it takes besides its shape."""
    layers: ClassVar[tuple[Any, ...]] = ()
    reads_mood: ClassVar[bool] = False
    predicted_together: ClassVar[int] = 256

    def __init__(self, *, turns: int | None = 0, speakers: bool = False, seed: int = 0, **options: Any) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.options = config_from(options, NeuralOptions, source=self.architecture)

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.shared, **encode(self.options)}

    # ---------------------------------------------------------------- training

    def fit(self, examples: Sequence[Example]) -> Self:
        """Build the vocabulary, hold a part out, train the members one after the other."""
        options = self.options
        kept, _ = labelled(examples)
        device = find_device(options.device)
        training, watched = hold_out(kept, options.validation, self.seed)
        words = [self._words(example) for example in training]
        self.vocabulary_ = Vocabulary.of(words, options.min_count, options.most_words)
        start = starting_vectors(self.vocabulary_, options.vectors, options.dimension, self.seed)
        self.dimension_ = start.shape[1]
        known = self._training(training, words)
        held_out = self._training(watched, [self._words(e) for e in watched]) if watched else None
        self.networks_: list[Network] = []
        self.history_: list[list[dict[str, Any]]] = []
        for member in range(options.members):
            self._train_member(member, start, known, held_out, device)
        return self

    def _train_member(
        self,
        member: int,
        start: NDArray[np.float32],
        training: Training,
        held_out: Training | None,
        device: torch.device,
    ) -> None:
        import torch

        from deadpan.detect.neural.training import plan_of, train

        state = np.random.SeedSequence((self.seed, member)).generate_state(2)
        seed, dropout = int(state[0]), self._dropout(int(state[1]))
        with seeded(seed, device):
            # Not every device supports sparse embeddings.
            network = self._network(torch.from_numpy(start.copy()), dropout, sparse=device.type != "mps")
            progress = partial(self._tell, member)
            history = train(network, training, held_out, plan_of(self.options, seed), device, progress)
        self.networks_.append(network.eval())
        self.history_.append([asdict(epoch) for epoch in history])

    def _dropout(self, seed: int) -> float:
        if not self.options.dropout_range:
            return self.options.dropout
        low, high = self.options.dropout_range
        return float(np.random.default_rng(seed).uniform(low, high))

    def _tell(self, member: int, what: str, done: int, total: int) -> None:
        several = f"network {member + 1} of {self.options.members}, " if self.options.members > 1 else ""
        self.progress(f"{several}{what}", done, total)

    def _network(self, start: torch.Tensor, dropout: float, sparse: bool) -> Network:
        from deadpan.detect.neural import networks

        features = WIDTH if self.reads_mood else 0
        shape = networks.Shape(start, self.options.hidden, dropout, features, self.options.tune_vectors, sparse)
        network: Network = getattr(networks, self.network)(shape, *self.layers)
        return network

    # ---------------------------------------------------------------- texts

    def _words(self, example: Example) -> list[str]:
        return tokens(example, self.context, self.options.max_tokens)

    def _texts(self, examples: Sequence[Example], words: Sequence[Sequence[str]]) -> NumberedTexts:
        features = moods([example.response.text for example in examples]) if self.reads_mood else None
        return NumberedTexts([self.vocabulary_.numbers(text) for text in words], features)

    def _training(self, examples: Sequence[Example], words: Sequence[Sequence[str]]) -> Training:
        from deadpan.detect.neural.training import Training

        labels = np.array([bool(example.label) for example in examples], dtype=bool)
        return Training(self._texts(examples, words), labels, [example.sequence for example in examples])

    # ---------------------------------------------------------------- use

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the members' average probability of sarcasm."""
        need("torch", "neural")
        if not examples:
            return []
        from deadpan.detect.neural.training import margins

        device = find_device(self.options.device)
        texts = self._texts(examples, [self._words(example) for example in examples])
        together = [
            sigmoid(margins(network.to(device), texts, self.predicted_together, device)) for network in self.networks_
        ]
        return predictions(examples, np.mean(together, axis=0))

    def save(self, folder: Path) -> None:
        """Write tensors as safetensors, everything else as JSON."""
        tensors_file = need("safetensors.torch", "neural")
        tensors = {
            f"{member}.{name}": value.detach().cpu().contiguous()
            for member, network in enumerate(self.networks_)
            for name, value in network.state_dict().items()
        }
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "networks.safetensors") as temporary:
            tensors_file.save_file(tensors, temporary)
            temporary.chmod(0o644)  # the library writes tensors for the owner only
        state = {
            "architecture": self.architecture,
            "settings": self.settings,
            "dimension": self.dimension_,
            "history": self.history_,
            "vocabulary": self.vocabulary_.words,
        }
        write_json(folder / "network.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        torch = need("torch", "neural")
        state = read_json(folder / "network.json")
        if state.get("architecture") != cls.architecture:
            raise DataError(f"{folder}: holds a network {state.get('architecture')!r}, not {cls.architecture!r}")
        model = cls(**state["settings"])
        model.vocabulary_ = Vocabulary(state["vocabulary"])
        model.dimension_, model.history_ = state["dimension"], state["history"]
        tensors = _read_tensors(folder / "networks.safetensors")
        model.networks_ = []
        for member in range(model.options.members):
            start = torch.zeros(len(model.vocabulary_), model.dimension_)
            network = model._network(start, model.options.dropout, sparse=False)
            own = {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{member}.")}
            try:
                network.load_state_dict(own)
            except RuntimeError as bad:
                raise DataError(f"{folder}: weights and settings do not fit; train it again") from bad
            model.networks_.append(network.eval())
        return model


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    library, tensors_file = need("safetensors", "neural"), need("safetensors.torch", "neural")
    try:
        tensors: dict[str, torch.Tensor] = tensors_file.load_file(path)
    except (OSError, library.SafetensorError) as bad:
        raise DataError(f"{path}: not a complete file of tensors ({bad}); train the model again") from None
    return tensors


class LstmSystem(NeuralSystem):
    """One LSTM of dimension 100, its state at the last word."""

    about = "iSarcasm: LSTM"
    architecture, network = "lstm", "LstmNetwork"


class AttLstm(NeuralSystem):
    """The LSTM with attention over its states, both of dimension 100."""

    about = "iSarcasm: LSTM with attention"
    architecture, network = "att-lstm", "AttentionLstmNetwork"


class Cnn(NeuralSystem):
    """100 filters of three words."""

    about = "iSarcasm: convolution"
    architecture, network, layers = "cnn", "ConvolutionNetwork", ((3,),)


class ThreeCnn(NeuralSystem):
    """100 filters each of three, four and five words."""

    about = "iSarcasm: three convolutions"
    architecture, network, layers = "3cnn", "ConvolutionNetwork", ((3, 4, 5),)


class Siarn(NeuralSystem):
    """Intra-attention with one affinity per pair of words, beside an LSTM."""

    about = "iSarcasm: attention over word pairs, one dimension (Tay et al. 2018)"
    architecture, network, layers = "siarn", "IntraAttentionNetwork", (False,)


class Miarn(NeuralSystem):
    """Intra-attention with several affinities per pair of words, beside an LSTM."""

    about = "iSarcasm: attention over word pairs, many dimensions (Tay et al. 2018)"
    architecture, network, layers = "miarn", "IntraAttentionNetwork", (True,)
    predicted_together = 32  # pairs of words take memory: 130 MB for 32 texts of 100 words


class DenseLstmSystem(NeuralSystem):
    """Four densely connected LSTM layers, the average word and the mood of the text.

    The ensemble of Wu et al. is `members=10, dropout_range=(0.2, 0.4)`.
    """

    about = "iSarcasm: four densely connected LSTM layers"
    architecture, network = "dense-lstm", "DenseLstmNetwork"
    reads_mood = True


def moods(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one row per text and one column per signal: praise, blame, clashes, shouting, laughter."""
    rows = [printable(text[:LOOKED_AT]).split() for text in texts]
    places: dict[str, int] = {}
    words = [places.setdefault(word, len(places)) for row in rows for word in row]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    signals = text_signals(word_signals(list(places)), np.array(words, dtype=np.int64), lengths)
    return signals.astype(np.float32)
