"""Data and model cards, the Hugging Face folder and its Croissant metadata."""

from deadpan.cards.croissant import FileFacts, croissant
from deadpan.cards.facts import DataFacts, ModelFacts, Sizes
from deadpan.cards.folder import write_dataset_folder
from deadpan.cards.markdown import data_card, model_card

__all__ = [
    "DataFacts",
    "FileFacts",
    "ModelFacts",
    "Sizes",
    "croissant",
    "data_card",
    "model_card",
    "write_dataset_folder",
]
