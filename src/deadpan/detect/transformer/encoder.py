"""Encoders: where they are, how they are loaded and what of them is trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR, getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.errors import ConfigError, ModelError, need
from deadpan.models import MODELS
from deadpan.models import path as model_path

if TYPE_CHECKING:
    from torch import nn

    from deadpan.detect.transformer.options import Options

LARGE_TABLE = 5_000  # words of a table that is worth training by rows
TUNED = "encoder"
"""The folder inside a saved detector that holds the encoder, in the library's own format."""


def locate(name: str) -> tuple[str, bool]:
    """What to load for a name, and whether it is a folder here: then no network is asked.

    A detector that was saved here can be trained further: give its folder.
    """
    if name in MODELS:
        return str(model_path(name)), True
    folder = Path(name).expanduser()
    for place in (folder / TUNED, folder):
        if (place / "config.json").is_file():
            return str(place), True
    if folder.is_dir() or name.startswith(("/", ".", "~")):
        raise ModelError(f"{name}: no config.json in it; give the folder of a Hugging Face model")
    return name, False


def load(name: str) -> tuple[Any, Any]:
    """The tokenizer, and the encoder with a head for two labels."""
    transformers = need("transformers", "neural")
    tensors = need("safetensors", "neural")
    source, here = locate(name)
    with quiet():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=here)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                source, num_labels=2, local_files_only=here
            )
        except (OSError, ValueError, tensors.SafetensorError) as bad:
            reason = str(bad).splitlines()[0][:160]
            cure = "is it a whole model?" if here else "give a folder, or connect to the hub once to fetch it"
            raise ModelError(f"the encoder {name!r} cannot be loaded ({reason}): {cure}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token_id is None:
        raise ModelError(f"the encoder {name!r} has no token to pad with: choose another")
    model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model


def prepare(model: nn.Module, options: Options, sparse: bool) -> nn.Module:
    """Say what is trained: everything, all but the lowest layers, or low-rank additions and the head.

    With `sparse` a step changes only the rows of a word table whose words it saw: the table is half of a
    small encoder, and a batch sees a hundredth of it.
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
        target_modules="all-linear",
    )
    try:
        adapted: nn.Module = peft.get_peft_model(model, config)
    except ValueError as bad:
        raise ConfigError(
            f"LoRA finds nothing to adapt in {options.encoder}: use method full ({bad})"
        ) from None
    return adapted


def _freeze(model: Any, layers: int) -> None:
    base = model.base_model
    stack = getattr(getattr(base, "encoder", None), "layer", None)
    if stack is None or layers > len(stack):
        have = "no layers that can be told apart" if stack is None else f"{len(stack)} layers"
        raise ConfigError(f"freeze {layers}: the encoder has {have}")
    for part in (base.embeddings, *stack[:layers]):
        part.requires_grad_(False)


def merged(model: Any) -> Any:
    """The model as a plain one: additions are added in, so nothing but transformers is needed to load it."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model


@contextmanager
def quiet() -> Iterator[None]:
    """The library's remarks on a head that is new (it should be) and its bars are not for our users."""
    logging = need("transformers", "neural").utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub = getLogger("huggingface_hub")  # tells of every retry, before the one line that counts
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
