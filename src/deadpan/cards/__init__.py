"""Data and model cards, the Hugging Face folder and its Croissant metadata."""

from deadpan.cards.croissant import FileFacts, croissant
from deadpan.cards.facts import DataFacts, ModelFacts, Sizes
from deadpan.cards.folder import write_dataset_folder
from deadpan.cards.markdown import HubConfig, data_card, dataset_card, markdown_table, model_card

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
