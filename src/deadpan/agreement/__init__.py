"""How far people agree, and what their answers come to."""

from deadpan.agreement.coefficients import (
    agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_cohen_kappa,
    raw_agreement,
)
from deadpan.agreement.consensus import Annotator, DawidSkene, Match, dawid_skene, majority, match_majority
from deadpan.agreement.ratings import Ratings, ratings_from_judgments, ratings_from_matrix

__all__ = [
    "Annotator",
    "DawidSkene",
    "Match",
    "Ratings",
    "agreement",
    "cohen_kappa",
    "dawid_skene",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "majority",
    "match_majority",
    "mean_cohen_kappa",
    "ratings_from_judgments",
    "ratings_from_matrix",
    "raw_agreement",
]
