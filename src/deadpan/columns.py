"""Records as Arrow columns, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import orjson

from deadpan.validation import field_types, is_mapping_type, is_record_type, without_none

if TYPE_CHECKING:
    import pyarrow as pa

_R = TypeVar("_R")
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


def arrow_schema(kind: type[Any]) -> pa.Schema:
    """Return the schema of a record type. Mappings become JSON text, since their keys differ by row."""
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(hint)) for name, hint in field_types(kind).items()])


def _arrow_type(hint: Any) -> pa.DataType:
    import pyarrow as pa

    hint = without_none(hint)
    if is_record_type(hint):
        return pa.struct([(name, _arrow_type(part)) for name, part in field_types(hint).items()])
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    simple = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return simple.get(hint, pa.string())


def records_to_batch(records: Sequence[_R], kind: type[_R], schema: pa.Schema) -> pa.RecordBatch:
    """Return records as a batch of columns."""
    import pyarrow as pa

    arrays = [_to_array(list(map(attrgetter(name), records)), hint) for name, hint in field_types(kind).items()]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _to_array(values: list[Any], hint: Any) -> pa.Array:
    import pyarrow as pa

    hint = without_none(hint)
    if is_record_type(hint):
        names = field_types(hint)
        parts = [_to_array(list(map(attrgetter(name), values)), part) for name, part in names.items()]
        return pa.StructArray.from_arrays(parts, fields=list(_arrow_type(hint)))
    if get_origin(hint) is tuple:
        offsets = pa.array([0, *accumulate(map(len, values))], pa.int32())
        flat = _to_array(list(chain.from_iterable(values)), get_args(hint)[0])
        return pa.ListArray.from_arrays(offsets, flat, type=_arrow_type(hint))
    if is_mapping_type(hint):
        values = [json_text(value if type(value) is dict else dict(value)) for value in values]
    return pa.array(values, _arrow_type(hint))


def json_text(value: dict[str, Any]) -> str | bytes:
    """Return JSON text, by orjson where it is exact: it writes NaN as null and refuses huge integers."""
    try:
        text = orjson.dumps(value, option=_PLAIN)
    except TypeError:
        return _JSON(value)
    return _JSON(value) if b"null" in text else text


def batch_to_records(batch: pa.RecordBatch, kind: type[_R]) -> list[_R]:
    """Return the records of a batch."""
    columns = [_from_array(batch.column(name), hint) for name, hint in field_types(kind).items()]
    return [kind(*row) for row in zip(*columns, strict=True)]


def _from_array(array: pa.Array, hint: Any) -> list[Any]:
    hint = without_none(hint)
    if is_record_type(hint):
        parts = [_from_array(array.field(i), part) for i, part in enumerate(field_types(hint).values())]
        return [hint(*row) for row in zip(*parts, strict=True)]
    if get_origin(hint) is tuple:
        flat = _from_array(array.flatten(), get_args(hint)[0])
        ends = list(accumulate(array.value_lengths().fill_null(0).to_pylist()))
        return [tuple(flat[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    values: list[Any] = array.to_pylist()
    return [json.loads(value) for value in values] if is_mapping_type(hint) else values
