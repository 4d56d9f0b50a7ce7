"""iSarcasm (Oprea and Magdy 2020): Tables 1 to 3 and 5 to 7, Figures 1 and 2, contributors, seven networks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadpan.datasets import READERS
from deadpan.detect.studies.design import FOLDS
from deadpan.page.numbers import score
from deadpan.presets import preset_values
from deadpan.reproduce.people import STUDIES, against_authors, open_people, open_survey
from deadpan.reproduce.published import Measured, cell_id, read_paper
from deadpan.reproduce.trials import (
    Job,
    ReproductionOptions,
    Scores,
    TrialRunner,
    cells_of,
    exact,
    mean_of,
    measured,
    percent,
    sizes_of,
)
from deadpan.stats import wilson

_NETWORKS = {
    "LSTM": "lstm",
    "Att-LSTM": "att-lstm",
    "CNN": "cnn",
    "SIARN": "siarn",
    "MIARN": "miarn",
    "3CNN": "3cnn",
    "Dense-LSTM": "dense-lstm",
}
# Epochs until a network usually stops early.
_EPOCHS = 12
_OWN_FEATURES = (
    "the mood features of deadpan instead of weka's TweetToLexicon and TweetToSentiStrength, and random vectors "
    "instead of Bravo-Marquez's tweet embeddings"
)
_OURS: Mapping[str, Any] = {"vectors": "embedded", "dropout": 0.5}
_QUICK: Mapping[str, Any] = {"epochs": 3}
_EARLIER = {
    "Riloff": "riloff",
    "Ptacek": "ptacek",
    "SARC-balanced": "sarc-main",
    "SARC-unbalanced": "sarc-main-unbalanced",
    "SemEval-2018": "semeval2018-a",
}
# Texts of an earlier corpus in a quick reproduction.
_SAMPLE = 1_000
# Share of sarcastic comments in SARC-imbalanced: "a ratio of about 20:80".
_UNBALANCED = 0.2
# Of a quick training on about 2,200 tweets.
_SECONDS = {"LSTM": 6.0, "Att-LSTM": 7.0, "CNN": 4.0, "SIARN": 8.0, "MIARN": 25.0, "3CNN": 6.0, "Dense-LSTM": 22.0}
_SURVEYED = (
    "words per explanation", "words per rephrase", "posted in 2019, %", "posted since 2017, %", "earliest year",
    "from the UK, %", "from the US, %", "from other countries, %", "tweets with a sarcasm hashtag",
)  # fmt: skip
_SCORES = {"Precision": "precision", "Recall": "recall", "F-score": "f1"}
_MADE_OF = {
    "Ptacek et al. 2014": "ptacek",
    "Khodak et al. 2018": "sarc-main",
    "Riloff et al. 2013": "riloff",
    "Van Hee et al. 2018": "semeval2018-a",
}
_TWEETS = 4_484
_METHODS = {"marker": "distant supervision", "perceived": "manual annotation"}
_TAGS = re.compile(r"#(?:sarcasm|sarcastic)\b", re.IGNORECASE)


def jobs(options: ReproductionOptions) -> list[Job]:
    """Return the jobs of the paper."""
    made = [_methods(), _tags(), _categories(), _lengths(), _contributors(), _perceived()]
    rows = dict.fromkeys(cell.row for cell in read_paper("isarcasm").cells() if cell.exhibit == "table-6")
    made += [*map(_sizes, _EARLIER), *(_earlier(row, options) for row in rows)]
    return made + [_network(name, table, options) for name in _NETWORKS for table in ("table-7", "table-7-ours")]


# ---------------------------------------------------------------- corpora


def _methods() -> Job:
    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = {}
        for row, source in _MADE_OF.items():
            release = READERS.load(source).release
            text = f"{release.platform}, {_METHODS[release.label_kind]}"
            cell = read_paper("isarcasm").cell(cell_id("table-1", row, "source and method"))
            how = f"what the reader {source} states"
            found[cell.id] = Measured(text=text, how=how, agrees=text == cell.said, reason="another label kind")
        return found

    return Job("table-1", cells_of("table-1", _MADE_OF, ["source and method"]), work)


def _tags() -> Job:
    rows, columns = ("annotated sarcastic", "annotated non-sarcastic"), ("with tag", "without tag")
    (share,) = cells_of("section-3.2", ["tweets with a tag, annotated non-sarcastic"], ["%"])
    ids = (*cells_of("table-2", rows, columns), share)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        examples = runner.corpus("riloff", keep_markers=True).examples
        counts = Counter((bool(e.label), bool(_TAGS.search(e.response.text))) for e in examples)
        need = "data: the tweets with their hashtags (sarcasm-annos-emnlp13.tsv has the ids); this copy has none"
        if any(tagged for _, tagged in counts):
            gone = runner.missing("riloff")
            need = f"data: {gone}" if gone else ""
        how = f"{len(examples):,} tweets that could be read"
        tagged = counts[True, True] + counts[False, True]
        value = wilson(counts[False, True], tagged)
        return {share: Measured(value, how=how, needs=need, reason="other tweets are left")} | {
            cell_id("table-2", row, column): Measured(
                exact(counts[label, tagged], len(examples)), how=how, needs=need, reason="other tweets are left"
            )
            for row, label in zip(rows, (True, False), strict=True)
            for column, tagged in zip(columns, (True, False), strict=True)
        }

    return Job("table-2", ids, work)


def _categories() -> Job:
    rows = [cell.row for cell in read_paper("isarcasm").cells() if cell.exhibit == "table-3"]

    def work(runner: TrialRunner) -> dict[str, Measured]:
        examples = runner.corpus("isarcasm", ids_only=True).examples
        kinds = Counter(category for e in examples if e.label for category in e.categories)
        labels = Counter("sarcastic" if e.label else "non-sarcastic" for e in examples)
        splits = {example.split for example in examples}
        need = "" if "test" in splits else (
            "data: isarcasm_test.csv, the other fifth, published at github.com/silviu-oprea/iSarcasm"
        )  # fmt: skip
        found = {}
        for row in rows:
            count = labels[row] if row in labels else kinds[row.replace(" ", "_")]
            whole = len(examples) if row in labels else labels["sarcastic"]
            cell = read_paper("isarcasm").cell(cell_id("table-3", row, "tweets"))
            share, theirs = wilson(count, whole), (cell.value or 0.0) / (_TWEETS if row in labels else 777)
            how = (
                f"share {100 * (share.value or 0):.1f} % [{100 * (share.low or 0):.1f}, "
                f"{100 * (share.high or 0):.1f}] of {whole:,}, published {100 * theirs:.1f} %"
            )
            found[cell.id] = Measured(exact(count, whole), how=how, needs=need)
        return found

    return Job("table-3", cells_of("table-3", rows, ["tweets"]), work)


def _lengths() -> Job:
    (id,) = cells_of("figure-1", ["mean length"], ["words"])

    def words(runner: TrialRunner) -> list[int]:
        return [len(e.response.text.split()) for e in runner.corpus("isarcasm").examples]

    def work(runner: TrialRunner) -> dict[str, Measured]:
        counts = words(runner)
        mean = mean_of(counts)
        how = f"words between spaces in the {len(counts):,} tweets whose text is here"
        whole = len(counts) == _TWEETS
        return {id: Measured(mean, how=how, reason="the paper says “around 20”; words between spaces", same=whole)}

    def draw(runner: TrialRunner) -> Any:
        from deadpan.figures import distribution

        counts = words(runner)
        title = f"A tweet of iSarcasm has {np.mean(counts):.0f} words on average"
        return distribution(title, {"tweets": counts}, unit="words in a tweet", bins=30)

    return Job("figure-1", (id,), work, {"figure-1": draw})


# ---------------------------------------------------------------- people


def _contributors() -> Job:
    about = cells_of("section-5.1", _SURVEYED, ["value"])
    ids = (*cells_of("figure-2", ["female", "younger than 35"], ["%"]), *about)

    def facts(runner: TrialRunner) -> SurveyFacts:
        return describe_survey([each.answers for each in open_survey(runner, "author-survey")])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = facts(runner)
        posts, countries = sum(found.years.values()), sum(found.countries.values())
        everybody = sum(found.ages.values())
        women = sum(n for (_, gender), n in found.ages.items() if gender == "female")
        said = sum(n for (_, gender), n in found.ages.items() if gender != "not provided")
        young = sum(n for (age, _), n in found.ages.items() if age in ("<25", "25-34"))
        here = {code: found.countries.get(code, 0) for code in ("GB", "US")}
        values = (
            wilson(women, said),
            wilson(young, everybody),
            mean_of(found.explanations),
            mean_of(found.rephrases),
            percent(found.years.get(2019, 0), posts),
            percent(sum(n for year, n in found.years.items() if year >= 2017), posts),
            exact(min(found.years, default=0), posts),
            *(percent(n, countries) for n in (*here.values(), countries - sum(here.values()))),
            exact(found.tagged, posts),
        )
        how = f"{found.people:,} participants"
        return measured(ids, values, how=how, reason="other participants")

    def draw(runner: TrialRunner) -> Any:
        from deadpan.figures import bars

        ages = facts(runner).ages
        whole = max(sum(ages.values()), 1)
        shares = {f"{age}, {gender}": n / whole for (age, gender), n in sorted(ages.items())}
        return bars("Contributors by age and gender", shares, unit="share of the contributors")

    return Job("figure-2", ids, work, {"figure-2": draw})


AGES = (("<25", 0, 24), ("25-34", 25, 34), ("35-44", 35, 44), ("45-54", 45, 54), ("55-64", 55, 64), (">65", 65, 200))
"""The bins of the paper's Figure 2; its last one holds everybody from 65 on."""
_GENDERS = ("female", "male", "other", "not provided")
_MARKING_TAGS = re.compile(r"#(?:sarcasm|sarcastic|sarcastictweet|irony|not)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SurveyFacts:
    """Counts of people and posts; people who did not say something are not counted there, except as a gender."""

    people: int
    ages: Mapping[tuple[str, str], int]
    """People by age group and gender."""
    countries: Mapping[str, int]
    years: Mapping[int, int]
    """Posts by the year they were written in."""
    explanations: tuple[int, ...]
    """Words of each explanation."""
    rephrases: tuple[int, ...]
    tagged: int
    """Posts with a hashtag that marks sarcasm."""


def describe_survey(submissions: Sequence[Mapping[str, Any]]) -> SurveyFacts:
    """Return the facts of some submissions' answers."""
    ages: Counter[tuple[str, str]] = Counter()
    for answers in submissions:
        if answers.get("age"):
            group = next(name for name, low, high in AGES if low <= int(answers["age"]) <= high)
            gender = str(answers.get("gender") or _GENDERS[-1])
            ages[group, gender if gender in _GENDERS else "other"] += 1
    posts = [post for answers in submissions for post in answers.get("posts", ())]
    return SurveyFacts(
        len(submissions),
        ages,
        Counter(str(answers["country"]) for answers in submissions if answers.get("country")),
        Counter(int(str(post["date"])[:4]) for post in posts if str(post.get("date", ""))[:4].isdigit()),
        tuple(len(str(answers["explanation"]).split()) for answers in submissions if answers.get("explanation")),
        tuple(len(str(answers["rephrase"]).split()) for answers in submissions if answers.get("rephrase")),
        sum(bool(_MARKING_TAGS.search(str(post.get("text", "")))) for post in posts),
    )


def _perceived() -> Job:
    counts = cells_of("table-5", ["intended sarcastic", "intended non-sarcastic"],
                      ["perceived sarcastic", "perceived non-sarcastic"])  # fmt: skip
    kappas = cells_of("section-5.2", [f"annotators {a} and {b}" for a, b in ((1, 2), (1, 3), (2, 3))], ["kappa"])
    people = cells_of("table-7", ["Manual Labelling"], _SCORES)
    shares = cells_of("table-5-shares", ["sarcastic tweets unrecognised", "perceived but not intended"], ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        study = open_people(runner, "reader-judgment")
        table = against_authors(study)
        how, reason = f"{table.n:,} tweets, {len(study.ratings.raters):,} people", "other people"
        cells = [table.confusion[1][1], table.confusion[1][0], table.confusion[0][1], table.confusion[0][0]]
        hit, missed, false, _ = cells
        wrong = (wilson(missed, hit + missed), wilson(false, hit + false))
        values = [*(exact(n, table.n) for n in cells), *(table.scores[name] for name in _SCORES.values()), *wrong]
        pairs = study.pairwise()
        found = measured((*counts, *people, *shares, *kappas[: len(pairs)]), (*values, *pairs), how=how, reason=reason)
        # With fewer than three people, some kappas stay open.
        missing = Measured(how=how, needs=f"people: {STUDIES['reader-judgment'].commands('reader-judgment')}")
        return dict.fromkeys(kappas, missing) | found

    return Job("people perceive", (*counts, *kappas, *people, *shares), work)


# ---------------------------------------------------------------- networks


def _sizes(row: str) -> Job:
    """Return the job of a corpus's size; of SARC, the paper's draw of it."""
    source, (id,) = _EARLIER[row], cells_of("section-6.1", [row], ["texts"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        counted = sizes_of(runner, source)["all"]
        size = int(read_paper("isarcasm").cell(id).value or 0)
        drawn = min(size, counted) if row.startswith("SARC") else counted
        gone = runner.missing(source)
        how = f"{drawn:,} drawn from the {counted:,} of {source}" if row.startswith("SARC") else f"counted in {source}"
        return {id: Measured(exact(drawn), how=how, needs=f"data: {gone}" if gone and drawn < size else "",
                             reason="other tweets can still be read")}  # fmt: skip

    return Job(f"section-6.1 {row}", (id,), work, sources=(source,))


def _settings(name: str, quick: bool, published: bool = True) -> dict[str, Any]:
    """Return the paper's settings of a network, or ours; what the paper does not state are the defaults."""
    base = preset_values("isarcasm", f"detect {_NETWORKS[name]}") if published else _OURS
    return {**base, **(_QUICK if quick else {})}


def _seconds(name: str, options: ReproductionOptions) -> float:
    return _SECONDS[name] * (1 if options.quick else FOLDS * options.seeds * _EPOCHS / _QUICK["epochs"])


def _earlier(row: str, options: ReproductionOptions) -> Job:
    corpus, _, network = row.partition(", ")
    source, ids = _EARLIER[corpus], cells_of("table-6", [row], ["F-score", "F-score, first published"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        size = int(read_paper("isarcasm").cell(cell_id("section-6.1", corpus, "texts")).value or 0)
        found = runner.scores(
            source, _NETWORKS[network], _settings(network, options.quick),
            at_most=_SAMPLE if options.quick else size, seeds=options.all_seeds,
            share=_UNBALANCED if corpus == "SARC-unbalanced" else None,
        )  # fmt: skip
        macro = score(found.values["macro_f1"], 3)
        parts = [f"macro-averaged, as Tay et al. may report it, ours is {macro}", "the paper states no epochs"]
        parts += ["a sample and three epochs"] if options.quick else ["random word vectors"]
        if network == "Dense-LSTM":
            parts.append(_OWN_FEATURES)
        if gone := runner.missing(source):
            parts.append(f"not here: {gone}")
        same_test = found.official and not options.quick and not gone and network != "Dense-LSTM"
        return dict.fromkeys(ids, _measured(found, "f1", "; ".join(parts), same_test))

    return Job(f"table-6 {row}", ids, work, seconds=_seconds(network, options), sources=(source,))


def _network(name: str, exhibit: str, options: ReproductionOptions) -> Job:
    ids, published = cells_of(exhibit, [name], _SCORES), exhibit == "table-7"

    def work(runner: TrialRunner) -> dict[str, Measured]:
        settings = _settings(name, options.quick, published)
        found = runner.scores("isarcasm", _NETWORKS[name], settings, seeds=options.all_seeds)
        tweets = len(runner.corpus("isarcasm").examples) if not found.official else 0
        parts = ["threshold 0.5 on a balanced loss; precision and recall are traded for each other"]
        parts += [f"{tweets:,} training tweets could still be read, of 3,587"] if tweets else []
        parts += ["three epochs"] if options.quick else []
        parts += [_OWN_FEATURES] if name == "Dense-LSTM" else []
        official = found.official and published and not options.quick and name != "Dense-LSTM"
        reason = "; ".join(parts)
        return {id: _measured(found, score, reason, official) for id, score in zip(ids, _SCORES.values(), strict=True)}

    return Job(f"{exhibit} {name}", ids, work, seconds=_seconds(name, options), sources=("isarcasm",))


def _measured(found: Scores, score: str, reason: str, same: bool) -> Measured:
    """Return a score beside that of always answering "sarcastic"; a constant answer reproduces nothing."""
    how = f"{found.how}; always sarcastic has F {found.floor:.3f}"
    if found.constant:
        return Measured(found.values[score], how=how, agrees=False, reason=f"a constant answer; {reason}")
    return Measured(found.values[score], how=how, reason=reason, same=same)
