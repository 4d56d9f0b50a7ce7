"""Records of every shape, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from deadpan.records import Example, Judgment, Label, Prediction, Turn

texts = st.text(max_size=60)
names = st.text(max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
turns = st.builds(Turn, names, texts)
examples = st.builds(
    Example,
    id=names,
    response=turns,
    context=st.lists(turns, max_size=4).map(tuple),
    label=st.none() | st.booleans(),
    categories=st.lists(names, max_size=3).map(tuple),
    label_kind=st.sampled_from(["marker", "author", "perceived", "generated", ""]),
    group=names,
    sequence=names,
    split=st.sampled_from(["train", "dev", "test", ""]),
    source=names,
    language=names,
    explanation=texts,
    rephrase=texts,
    meta=st.dictionaries(names, json_values, max_size=3),
)
predictions = st.builds(Prediction, names, st.none() | st.booleans(), st.none() | numbers, texts)
judgments = st.builds(Judgment, names, names, names, texts, numbers, names)
labels = st.builds(
    Label, names, names, st.none() | names, st.dictionaries(names, numbers, max_size=3), st.integers(0, 99), names
)
records = st.one_of(
    *[st.tuples(st.just(kind), st.lists(records, max_size=5)) for kind, records in
      ((Example, examples), (Prediction, predictions), (Judgment, judgments), (Label, labels))]
)  # fmt: skip
