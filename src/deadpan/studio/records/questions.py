"""Questions of a custom study in the words of other tools: Label Studio's labeling configuration (XML) and Potato's
annotation schemes (YAML), read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from deadpan.errors import ConfigError, DataError, need
from deadpan.formats.study import OTHERS, CustomQuestion, Study, question_problems
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import write_config, write_text
from deadpan.studio.records.studies import protocol_of, settings_of
from deadpan.validation import encode

OTHER_TOOLS = (".xml", ".yaml", ".yml")
"""Endings of configurations that other tools read: Label Studio's and Potato's."""
# A configuration is a page or two; more is a mistake, or an attack: PyYAML reads 40 kB per second.
_LARGEST_FILE, _DEEPEST = 100_000, 50
_MOST_STEPS = 11


def read_questions(path: Path) -> tuple[CustomQuestion, ...]:
    """Read the questions of Label Studio's labeling configuration (.xml) or Potato's configuration (.yaml).

    What a study cannot ask, such as boxes in pictures, is an error that names the tag or the scheme.
    """
    try:
        return parse_questions(Path(path).read_bytes(), Path(path).name)
    except OSError as bad:
        raise DataError(f"{path}: {bad.strerror}: name a configuration file") from None


def parse_questions(data: bytes, name: str) -> tuple[CustomQuestion, ...]:
    """Read the questions in the bytes of a file of this name."""
    try:
        if Path(name).suffix not in OTHER_TOOLS or len(data) > _LARGEST_FILE:
            raise DataError(f"expected a configuration, {', '.join(OTHER_TOOLS)}, of at most 100 kB")
        text = data.decode("utf-8-sig")
        questions = _as_ours(_from_xml(text) if name.endswith(".xml") else _from_yaml(text))
    except UnicodeDecodeError:
        raise DataError(f"{name}: not UTF-8 text: save it as UTF-8") from None
    except RecursionError:
        raise DataError(f"{name}: nested too deeply: copy the whole configuration") from None
    # A list where a table belongs has no .get; PyYAML looks "!!bool maybe" up in a dictionary; the size of a scale
    # may be infinite.
    except (DataError, AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as bad:
        raise DataError(f"{name}: {bad}") from None
    for at, field, wrong in question_problems(questions):
        shown = questions[at].name if questions else "none"
        raise DataError(f"{name}: question {at + 1} ({shown}), {field}: {wrong}")
    return questions


def _as_ours(questions: Sequence[CustomQuestion]) -> tuple[CustomQuestion, ...]:
    """Return the questions under names that addresses allow; NAME.others is the second question of NAME."""
    asked = {q.name for q in questions}
    predicted = {name.removesuffix(OTHERS) for name in asked if name.endswith(OTHERS)} & asked
    kept = [q for q in questions if q.name.removesuffix(OTHERS) not in predicted or q.name in predicted]
    names = {q.name: re.sub(r"[^a-z0-9_-]+", "-", q.name.lower()).lstrip("-_0123456789")[:40] for q in kept}
    return tuple(
        replace(q, name=names[q.name], after=names.get(q.after, q.after), predict=q.name in predicted) for q in kept
    )


# ---------------------------------------------------------------- Label Studio


# Tags that show something or arrange the page: there is nothing to ask.
_SHOWN = {"View", "Text", "HyperText", "Paragraphs", "Style", "Panel", "Collapse", "List"}
_SPAN_TAGS = {"Labels", "HyperTextLabels", "ParagraphLabels"}
# The meaning of both ends of a scale has no attribute of its own; Label Studio shows this line under the question.
_ENDS = re.compile(r"-?\d+ = (.+); -?\d+ = (.+)")
# Label Studio ranks a list of the task's data. It ignores an attribute it does not know, so this one keeps ours.
_RANKED, _BETWEEN = "options", " | "


def _from_xml(text: str) -> list[CustomQuestion]:
    # A document type can define entities that grow without limit; no labeling configuration has one.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError("a labeling configuration has no document type: remove <!DOCTYPE ...>")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as bad:
        raise DataError(f"not XML that can be read ({bad}): copy the whole labeling configuration") from None
    reader = _LabelStudioReader()
    reader.read(root, ("", ()))
    return reader.questions


Condition = tuple[str, tuple[str, ...]]


class _LabelStudioReader:
    """Reads tags from top to bottom: a header is the text of the question after it."""

    def __init__(self) -> None:
        self.questions: list[CustomQuestion] = []
        self.header = ""
        self.ends: tuple[str, ...] = ()

    def read(self, tag: ElementTree.Element, outer: Condition) -> None:
        """Read a tag and those in it; `outer` is the condition of the view it is in."""
        condition = self._condition(tag, outer)
        if tag.tag == "Header":
            value = tag.get("value", "").strip()
            if ends := _ENDS.fullmatch(value):
                self.ends = (ends[1], ends[2])
            else:
                self.header = value
        elif tag.tag in _SHOWN:
            for inner in tag:
                self.read(inner, condition)
        elif tag.tag in _CONTROLS:
            self._question(tag, condition)
        else:
            known = ", ".join(sorted(_CONTROLS))
            raise DataError(f"<{tag.tag}>: a study has no question of this kind: keep {known} and what shows text")

    def _question(self, tag: ElementTree.Element, condition: Condition) -> None:
        name = tag.get("name", "")
        if tag.get("perRegion") == "true":
            raise DataError(f"<{tag.tag} name={name!r}>: perRegion asks about marked words: remove it")
        values = _CONTROLS[tag.tag](tag)
        self.header, self.ends, header, ends = "", (), self.header, self.ends
        question = CustomQuestion(
            name=name, text=header or name, required=tag.get("required") == "true", after=condition[0],
            when=condition[1], ends=ends if values["kind"] in ("scale", "slider") else (), **values,
        )  # fmt: skip
        self.questions.append(question)

    def _condition(self, tag: ElementTree.Element, outer: Condition) -> Condition:
        """Return the condition under which a tag is shown; inside another one, it must imply that."""
        visible = tag.get("visibleWhen")
        if visible is None:
            return outer
        name = tag.get("whenTagName", "")
        asked = next((q for q in self.questions if q.name == name), None)
        if visible != "choice-selected" or asked is None:
            raise DataError(f"<{tag.tag}>: only choice-selected with an earlier whenTagName can be a condition")
        if outer[0] and outer[0] not in (name, asked.after):
            raise DataError(f"<{tag.tag}>: two conditions, {outer[0]} and {name}: ask with one of them")
        chosen = tag.get("whenChoiceValue")
        if not chosen or chosen in asked.answers:
            return name, (chosen,) if chosen else asked.answers
        return name, tuple(word.strip() for word in chosen.split(","))


def _xml_options(tag: ElementTree.Element, child: str) -> tuple[str, ...]:
    for inner in tag:
        if inner.tag != child or len(inner):
            raise DataError(f"<{inner.tag}> in <{tag.tag} name={tag.get('name')!r}>: expected <{child}>, not nested")
    if not len(tag):
        raise DataError(
            f"<{tag.tag} name={tag.get('name')!r}>: write its <{child}> tags; a task's data cannot name them"
        )
    return tuple(inner.get("value", "") for inner in tag)


def _xml_number(tag: ElementTree.Element) -> dict[str, Any]:
    slider = tag.get("slider") == "true"
    where = f"<Number name={tag.get('name')!r}>"
    return _steps(where, tag.get("min"), tag.get("max"), tag.get("step", "1"), slider)


def _steps(where: str, low: Any, high: Any, step: Any, slider: bool) -> dict[str, Any]:
    """Return a slider, or a scale where there are few steps."""
    if low is None or high is None or str(step) not in ("1", "1.0"):
        raise DataError(f"{where}: needs min and max, in steps of 1")
    first, last = _whole(where, low), _whole(where, high)
    if any(isinstance(end, float) and not end.is_integer() for end in (low, high)):
        raise DataError(f"{where}: from {low} to {high}: both ends must be whole numbers")
    return {"kind": "slider" if slider or last - first >= _MOST_STEPS else "scale", "low": first, "high": last}


def _whole(where: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise DataError(f"{where}: {value!r} is not a whole number") from None


def _xml_ranking(tag: ElementTree.Element) -> dict[str, Any]:
    if not tag.get(_RANKED):
        raise DataError(f'<Ranker name={tag.get("name")!r}>: ranks a list of each task: add {_RANKED}="first | second"')
    return {"kind": "ranking", "options": tuple(tag.get(_RANKED, "").split(_BETWEEN))}


_CONTROLS: Mapping[str, Callable[[ElementTree.Element], dict[str, Any]]] = {
    "Choices": lambda tag: {
        "kind": "many" if tag.get("choice") == "multiple" else "choice",
        "options": _xml_options(tag, "Choice"),
    },
    "Rating": lambda tag: {
        "kind": "scale",
        "low": 1,
        "high": _whole(f"<Rating name={tag.get('name')!r}>", tag.get("maxRating", "5")),
    },
    "Number": _xml_number,
    "TextArea": lambda tag: {"kind": "text"},
    "Ranker": _xml_ranking,
    **dict.fromkeys(_SPAN_TAGS, lambda tag: {"kind": "spans", "options": _xml_options(tag, "Label")}),
}


def _to_xml(questions: Sequence[CustomQuestion]) -> str:
    """Return a labeling configuration for the tasks that `write_tasks` writes."""
    root = ElementTree.Element("View")
    ElementTree.SubElement(
        root, "Paragraphs", name="context", value="$context", layout="dialogue", nameKey="speaker", textKey="text"
    )
    ElementTree.SubElement(root, "Text", name="text", value="$text")
    for q in questions:
        shown = root
        if q.after:
            words = {"visibleWhen": "choice-selected", "whenTagName": q.after, "whenChoiceValue": ",".join(q.when)}
            shown = ElementTree.SubElement(root, "View", words)
        ElementTree.SubElement(shown, "Header", value=q.text)
        if q.ends:
            ElementTree.SubElement(shown, "Header", size="6", value=f"{q.low} = {q.ends[0]}; {q.high} = {q.ends[1]}")
        _control(shown, q)
        if q.predict:
            ElementTree.SubElement(shown, "Header", value=_OTHERS_TEXT)
            ElementTree.SubElement(
                shown, "Number", name=f"{q.name}{OTHERS}", toName="text", min="0", max="100", slider="true"
            )
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


_OTHERS_TEXT = "How many of 100 other people will give the same answer?"


def _control(shown: ElementTree.Element, q: CustomQuestion) -> None:
    common = {"name": q.name, "toName": "text", "required": str(q.required).lower()}
    steps = {"min": str(q.low), "max": str(q.high)}
    if q.kind in ("choice", "many"):
        kind = "single" if q.kind == "choice" else "multiple"
        tag = ElementTree.SubElement(shown, "Choices", common | {"choice": kind})
        for option in q.options:
            ElementTree.SubElement(tag, "Choice", value=option)
    elif q.kind == "spans":
        tag = ElementTree.SubElement(shown, "Labels", common)
        for option in q.options:
            ElementTree.SubElement(tag, "Label", value=option)
    elif q.kind == "scale" and q.low == 1:
        ElementTree.SubElement(shown, "Rating", common | {"maxRating": str(q.high)})
    elif q.kind in ("scale", "slider"):
        ElementTree.SubElement(shown, "Number", common | steps | ({"slider": "true"} if q.kind == "slider" else {}))
    elif q.kind == "ranking":
        ElementTree.SubElement(shown, "List", name=f"{q.name}-list", value=f"${q.name}", title=q.text)
        ElementTree.SubElement(
            shown, "Ranker", common | {"toName": f"{q.name}-list", _RANKED: _BETWEEN.join(q.options)}
        )
    else:
        ElementTree.SubElement(shown, "TextArea", common)


# ---------------------------------------------------------------- Potato


_POTATO_KINDS = {
    "radio": "choice", "select": "choice", "multiselect": "many", "likert": "scale", "slider": "slider",
    "number": "number", "ranking": "ranking", "text": "text", "span": "spans",
}  # fmt: skip
_POTATO_NAMES = {
    "choice": "radio", "many": "multiselect", "slider": "slider", "ranking": "ranking", "text": "text", "spans": "span",
}  # fmt: skip


def _from_yaml(text: str) -> list[CustomQuestion]:
    yaml = need("yaml", "studio")
    try:
        depth = 0
        for token in yaml.scan(text):
            # An alias of an alias of ... grows without limit once it is walked; a configuration needs none.
            if isinstance(token, yaml.AliasToken):
                raise DataError("YAML with aliases (*name) is not read: write the scheme out")
            # PyYAML takes time that grows with the square of the depth.
            depth += type(token).__name__.endswith("StartToken") - type(token).__name__.endswith("EndToken")
            if depth > _DEEPEST:
                raise DataError("YAML nested too deeply: is it Potato's configuration?")
        config = yaml.safe_load(text)
    except yaml.YAMLError as bad:
        raise DataError(f"not YAML that can be read ({' '.join(str(bad).split())[:150]})") from None
    schemes = config.get("annotation_schemes") if isinstance(config, dict) else None
    if not isinstance(schemes, list) or not all(isinstance(scheme, dict) for scheme in schemes):
        raise DataError("no list of annotation_schemes: is it Potato's configuration?")
    return [_from_scheme(scheme) for scheme in schemes]


def _from_scheme(scheme: Mapping[str, Any]) -> CustomQuestion:
    name = str(scheme.get("name", ""))
    potato = str(scheme.get("annotation_type"))
    where = f"the scheme {name!r} of the type {potato}"
    if potato not in _POTATO_KINDS:
        raise DataError(f"{where}: a study has no question of this kind: keep {', '.join(_POTATO_KINDS)}")
    kind = _POTATO_KINDS[potato]
    labels = scheme.get("labels") or []
    if not isinstance(labels, list):
        raise DataError(f"{where}: labels are a list, not {labels!r}")
    options = tuple(_word(where, label.get("name", "") if isinstance(label, dict) else label) for label in labels)
    values: dict[str, Any] = {"kind": kind}
    if kind in ("choice", "many", "ranking", "spans"):
        values["options"] = options
    elif kind == "text" and len(options) > 1:
        raise DataError(f"{where}: several fields in one scheme: write a scheme for each")
    elif kind == "scale":
        values |= {"low": 1, "high": _whole(where, scheme.get("size", 5))}
    elif kind in ("slider", "number"):
        low, high = (scheme.get(end, scheme.get(f"{end}_value")) for end in ("min", "max"))
        values = _steps(where, low, high, scheme.get("step", 1), slider=kind == "slider")
    if scheme.get("min_label") and scheme.get("max_label"):
        values["ends"] = (str(scheme["min_label"]), str(scheme["max_label"]))
    requirement = scheme.get("label_requirement") or {}
    after, when = _potato_condition(where, scheme.get("display_logic"))
    return CustomQuestion(
        name=name, text=str(scheme.get("description") or name), required=bool(requirement.get("required")),
        after=after, when=when, **values,
    )  # fmt: skip


def _word(where: str, value: Any) -> str:
    if isinstance(value, bool):  # YAML reads yes, no, on and off as well
        raise DataError(f'{where}: an answer is read as {value}: put it in quotes ("yes", "no")')
    return str(value)


def _potato_condition(where: str, logic: Any) -> Condition:
    if not logic:
        return "", ()
    rules = logic.get("show_when") if isinstance(logic, dict) else None
    one = rules[0] if isinstance(rules, list) and len(rules) == 1 else {}
    if not isinstance(one, dict) or one.get("operator") not in ("equals", "contains"):
        raise DataError(f"{where}: display_logic needs one condition, with the operator equals or contains")
    value = one.get("value")
    return str(one.get("schema", "")), tuple(_word(where, v) for v in (value if isinstance(value, list) else [value]))


def _to_yaml(questions: Sequence[CustomQuestion]) -> str:
    yaml = need("yaml", "studio")
    schemes = [scheme for question in questions for scheme in _schemes(question)]
    return str(yaml.safe_dump({"annotation_schemes": schemes}, sort_keys=False, allow_unicode=True))


def _schemes(q: CustomQuestion) -> Iterator[dict[str, Any]]:
    scheme: dict[str, Any] = {"annotation_type": _POTATO_NAMES.get(q.kind), "name": q.name, "description": q.text}
    if q.kind == "scale":
        # Potato's likert begins at 1.
        likert = {"annotation_type": "likert", "size": q.high}
        scheme |= likert if q.low == 1 else {"annotation_type": "number", "min": q.low, "max": q.high}
    elif q.kind == "slider":
        # Versions differ in the names of both ends.
        scheme |= {"min": q.low, "max": q.high, "min_value": q.low, "max_value": q.high, "starting_value": q.low}
    elif q.kind == "text":
        scheme["textarea"] = {"on": True}
    if q.options:
        scheme["labels"] = list(q.options)
    if q.kind in ("scale", "slider"):
        scheme |= {"min_label": q.ends[0], "max_label": q.ends[1]} if q.ends else {}
    if q.required:
        scheme["label_requirement"] = {"required": True}
    if q.after:
        operator = {"schema": q.after, "operator": "equals", "value": list(q.when)}
        scheme["display_logic"] = {"show_when": [operator]}
    yield scheme
    if q.predict:
        others = {"annotation_type": "slider", "name": f"{q.name}{OTHERS}", "description": _OTHERS_TEXT}
        yield {**others, "min": 0, "max": 100, "min_value": 0, "max_value": 100, "starting_value": 0}


# ---------------------------------------------------------------- writing


@dataclass(frozen=True, slots=True)
class WrittenQuestions(Result):
    """A file with the questions of a study."""

    path: Path
    questions: int

    def summary(self) -> Summary:
        """Return the number of questions."""
        return Summary(notes=(f"{self.questions} questions in {self.path}",))

    def as_dict(self) -> dict[str, object]:
        """Return the number of questions."""
        return {"questions": self.questions}


def write_questions(study: Any, path: Path) -> WrittenQuestions:
    """Write the questions of a custom study for Label Studio (.xml), Potato (.yaml) or this program (.toml)."""
    path = Path(path)
    questions: Sequence[CustomQuestion] = getattr(settings_of(study), "questions", ())
    if not protocol_of(study).own_questions:
        raise ConfigError(
            f"{study.slug} is of the protocol {study.protocol}: only custom studies have their own questions"
        )
    if path.suffix == ".toml":
        fields = (study.protocol, study.title, study.version, study.language, study.seed, study.raters_per_item)
        write_config(path, Study(*fields, encode(study.settings)))
    elif path.suffix in OTHER_TOOLS:
        write_text(path, _to_xml(questions) if path.suffix == ".xml" else _to_yaml(questions))
    else:
        raise ConfigError(f"{path}: name it .toml, .xml (Label Studio) or .yaml (Potato)")
    return WrittenQuestions(path, len(questions))
