"""Agreement between raters, and labels aggregated from their answers."""

from deadpan.ratings.alternative import AlternativeTest, alternative_test
from deadpan.ratings.coefficients import (
    Agreement,
    agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_cohen_kappa,
    raw_agreement,
)
from deadpan.ratings.consensus import Annotator, DawidSkene, Match, dawid_skene, majority, match_majority
from deadpan.ratings.mace import Mace, mace
from deadpan.ratings.ratings import Ratings, as_ratings, ratings_from_judgments, ratings_from_matrix

__all__ = [
    "Agreement",
    "AlternativeTest",
    "Annotator",
    "DawidSkene",
    "Mace",
    "Match",
    "Ratings",
    "agreement",
    "alternative_test",
    "as_ratings",
    "cohen_kappa",
    "dawid_skene",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "mace",
    "majority",
    "match_majority",
    "mean_cohen_kappa",
    "ratings_from_judgments",
    "ratings_from_matrix",
    "raw_agreement",
]
