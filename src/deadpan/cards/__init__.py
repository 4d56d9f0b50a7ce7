"""Data and model cards, the Hugging Face folder and its Croissant metadata."""

from deadpan.cards.card import (
    DataFacts,
    FileFacts,
    HubConfig,
    ModelFacts,
    Sizes,
    croissant,
    data_card,
    dataset_card,
    markdown_table,
    model_card,
    write_dataset_folder,
)

__all__ = [
    "DataFacts",
    "FileFacts",
    "HubConfig",
    "ModelFacts",
    "Sizes",
    "croissant",
    "data_card",
    "dataset_card",
    "markdown_table",
    "model_card",
    "write_dataset_folder",
]
