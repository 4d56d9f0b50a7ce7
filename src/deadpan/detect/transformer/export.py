"""A fine-tuned encoder for other programs: a Hugging Face folder, or ONNX in 8 bits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from deadpan.detect.system import System
from deadpan.detect.transformer.encoder import quiet
from deadpan.detect.transformer.system import READABLE, Transformer
from deadpan.errors import ConfigError, need
from deadpan.storage import atomic

FORMS = ("safetensors", "onnx")
WHOLE, SMALL = "model.onnx", "model.int8.onnx"


def export_model(system: System, form: str, folder: Path) -> Path:
    """Write the encoder of a transformer detector, or of the one in a blend, and return the folder.

    "safetensors" is a folder that transformers' AutoModelForSequenceClassification loads, with the names of
    the labels. "onnx" is the same folder's model.onnx and model.int8.onnx, with the tokenizer beside them.
    """
    if form not in FORMS:
        raise ConfigError(f"cannot export {form!r}: choose from {', '.join(FORMS)}")
    members = [each for each in getattr(system, "members_", ()) if isinstance(each, Transformer)]
    if len(members) == 1:
        system = members[0]
    if not isinstance(system, Transformer):
        raise ConfigError(
            "only a transformer detector has an encoder to export: others are plain arrays already"
        )
    if not system.is_fitted:
        raise ConfigError("the detector is not trained: fit it first")
    folder.mkdir(parents=True, exist_ok=True)
    if form == "safetensors":
        system.export_encoder(folder)
    else:
        _write_onnx(system, folder)
    return folder


def _write_onnx(system: Transformer, folder: Path) -> None:
    torch = need("torch", "neural")
    need("onnxscript", "onnx")
    system.load_weights()
    tools = need("onnxruntime.quantization", "onnx")
    batch = system.tokenizer_(["a text", "another text, longer"], padding=True, return_tensors="pt")
    names = [name for name in batch if name in ("input_ids", "attention_mask", "token_type_ids")]
    shapes = {name: {0: "texts", 1: "tokens"} for name in names}
    with quiet(), warnings.catch_warnings(), atomic(folder / WHOLE) as temporary:
        warnings.simplefilter("ignore")  # of the library, about its own internals
        torch.onnx.export(
            _logits_of(system.model_.cpu().eval(), names), tuple(batch[name] for name in names),
            str(temporary), input_names=names, output_names=["logits"],
            dynamic_axes={**shapes, "logits": {0: "texts"}}, opset_version=17, dynamo=False,
        )  # fmt: skip
    with atomic(folder / SMALL) as temporary:
        tools.quantize_dynamic(str(folder / WHOLE), str(temporary), weight_type=tools.QuantType.QInt8)
    with quiet():
        system.tokenizer_.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(READABLE)


def _logits_of(model: Any, names: list[str]) -> Any:
    torch = need("torch", "neural")

    class Logits(torch.nn.Module):  # type: ignore[name-defined]
        """The model with its inputs by position and its logits alone."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            return self.model(**dict(zip(names, inputs, strict=True))).logits

    return Logits()
