"""Encoders: locate them, load them, and choose which weights are trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.errors import ConfigError, ModelError, need, reason_of
from deadpan.models import MODELS
from deadpan.models import path as model_path

if TYPE_CHECKING:
    from torch import nn

    from deadpan.detect.transformer.options import TransformerOptions

LARGE_TABLE = 5_000  # embeddings from this size on are updated sparsely
LABELS = ("sincere", "sarcastic")
TUNED = "encoder"
"""The folder inside a saved detector that holds the encoder, in the library's own format."""
ADAPTER = "adapter.safetensors"
"""The file of a saved detector that holds low-rank additions instead."""


def locate(name: str) -> tuple[str, bool]:
    """Return what to load for a name, and True if it is a local folder, which needs no network.

    The folder of a saved detector is an encoder too: it can be trained further.
    """
    if name in MODELS:
        return str(model_path(name)), True
    folder = Path(name).expanduser()
    for place in (folder / TUNED, folder):
        if (place / "config.json").is_file():
            return str(place), True
    if (folder / ADAPTER).is_file():
        raise ModelError(
            f"{name}: holds low-rank additions only; export it whole first: "
            f"Detector.load({name!r}).export('safetensors', FOLDER)"
        )
    if folder.is_dir() or name.startswith(("/", ".", "~")):
        raise ModelError(f"{name}: no config.json in it; give the folder of a Hugging Face model")
    return name, False


def load(name: str) -> tuple[Any, Any]:
    """Load the tokenizer, and the encoder with a head for two labels."""
    transformers = need("transformers", "neural")
    tensors = need("safetensors", "neural")
    source, here = locate(name)
    with quiet():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=here)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                source, num_labels=2, local_files_only=here, id2label=dict(enumerate(LABELS)),
                label2id={label: number for number, label in enumerate(LABELS)},
            )  # fmt: skip
        except (OSError, ValueError, tensors.SafetensorError) as bad:
            cure = (
                "is it a complete model?" if here else "give a folder, or connect to the hub once to fetch it"
            )
            raise ModelError(f"the encoder {name!r} cannot be loaded ({reason_of(bad)}): {cure}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token_id is None:
        raise ModelError(f"the encoder {name!r} has no token to pad with: choose another")
    model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model


def prepare(model: nn.Module, options: TransformerOptions, sparse: bool) -> nn.Module:
    """Choose the weights to train: all, all but the lowest layers, or low-rank additions and the head.

    With `sparse` a step updates only the embeddings of the words in its batch: the embeddings are half of a
    small encoder, and a batch has a hundredth of the words.
    """
    torch = need("torch", "neural")
    if options.freeze:
        _freeze(model, options.freeze)
    if options.method == "full":
        for module in model.modules():
            if isinstance(module, torch.nn.Embedding) and module.num_embeddings >= LARGE_TABLE:
                module.sparse = sparse
        return model
    peft = need("peft", "neural")
    config = peft.LoraConfig(
        task_type="SEQ_CLS",
        r=options.rank,
        lora_alpha=2 * options.rank,
        lora_dropout=0.05,
        target_modules=_upper_linear(model, options.freeze) if options.freeze else "all-linear",
    )
    try:
        adapted: nn.Module = peft.get_peft_model(model, config)
    except ValueError as bad:
        raise ConfigError(
            f"LoRA finds nothing to adapt in {options.encoder}: use method full ({bad})"
        ) from None
    if options.start:
        continue_from(adapted, options.start)
    return adapted


def continue_from(network: Any, start: str) -> None:
    """Put the saved low-rank additions of another training into a network prepared for its own."""
    file = Path(start).expanduser() / ADAPTER
    if not file.is_file():
        raise ConfigError(f"start {start}: no {ADAPTER} there; give the folder of a detector made with lora")
    peft = need("peft", "neural")
    saved = need("safetensors.torch", "neural").load_file(file)
    own = {name: value.shape for name, value in peft.get_peft_model_state_dict(network).items()}
    if own != {name: value.shape for name, value in saved.items()}:
        raise ConfigError(f"start {start}: its additions are of another encoder, rank or number of layers")
    peft.set_peft_model_state_dict(network, {name: value.float() for name, value in saved.items()})


def _layers(model: Any) -> Any:
    return getattr(getattr(model.base_model, "encoder", None), "layer", None)


def _upper_linear(model: Any, freeze: int) -> list[str]:
    """Return the names of the linear modules above the frozen layers."""
    linear = need("torch", "neural").nn.Linear
    upper = {id(module) for layer in _layers(model)[freeze:] for module in layer.modules()}
    return [
        name for name, module in model.named_modules() if isinstance(module, linear) and id(module) in upper
    ]


def _freeze(model: Any, layers: int) -> None:
    base = model.base_model
    stack = _layers(model)
    if stack is None or layers > len(stack):
        have = "no separate layers" if stack is None else f"{len(stack)} layers"
        raise ConfigError(f"freeze {layers}: the encoder has {have}")
    for part in (base.embeddings, *stack[:layers]):
        part.requires_grad_(False)


def adapter_of(model: Any) -> dict[str, Any] | None:
    """Return the low-rank additions and the head, by name; None of a model that was tuned as a whole."""
    if not hasattr(model, "merge_and_unload"):
        return None
    peft = need("peft", "neural")
    state = peft.get_peft_model_state_dict(model)
    return {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}


def adapted(model: nn.Module, options: TransformerOptions, adapter: dict[str, Any]) -> Any:
    """Return the encoder with saved low-rank additions and head, merged."""
    peft = need("peft", "neural")
    prepared = prepare(model, replace(options, start=""), sparse=False)
    peft.set_peft_model_state_dict(prepared, adapter)
    return merged(prepared)


def merged(model: Any) -> Any:
    """Return the model with LoRA weights merged, so that transformers alone can load it."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library's remarks on the new head and its progress bars."""
    logging = need("transformers", "neural").utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub = getLogger("huggingface_hub")  # logs every retry before the one error that counts
    before = hub.level
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub.setLevel(ERROR)
    try:
        yield
    finally:
        hub.setLevel(before)
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
