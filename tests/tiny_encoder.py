"""A transformer small enough to train in a test, made on the spot: random weights, words for tokens."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path


def tiny_encoder(folder: Path, texts: Iterable[str], seed: int = 0, longest: int = 64, kind: str = "bert") -> Path:
    """Write a Hugging Face folder: BERT or MPNet of two layers of 32 numbers, a token for every word of the texts."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    from deadpan.text import sarc_tokens

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    if kind == "mpnet":  # it pads with token 1
        marks[:2] = marks[1], marks[0]
    words = [*marks, *sorted({word for text in texts for word in sarc_tokens(text)})]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=longest,
        model_input_names=["input_ids", *(["token_type_ids"] if kind == "bert" else []), "attention_mask"],
    )  # fmt: skip
    config = AutoConfig.for_model(
        kind, vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=longest + 2, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, initializer_range=0.3,
    )  # fmt: skip
    with torch.random.fork_rng(), warnings.catch_warnings():
        torch.manual_seed(seed)
        model = AutoModel.from_config(config)
        model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
