"""What all models have in common: they are as strict as the schemas, and as open."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Model(BaseModel):
    """A shape that runtape writes.

    Fields have the names of the JSON. A field that no model knows is kept, so that writing what was read loses nothing.
    """

    model_config = ConfigDict(extra="allow", strict=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_null_where_optional(cls, data: Any) -> Any:
        """Refuses null for a field that may be absent: it is left out, never null."""
        from .models import NULLABLE

        if isinstance(data, dict) and None in data.values():
            nullable = NULLABLE.get(cls.__name__, frozenset())
            for name, field in cls.model_fields.items():
                key = field.alias or name
                is_null = key in data and data[key] is None
                if is_null and not (field.is_required() or key in nullable or _takes_anything(field.annotation)):
                    raise ValueError(f"{key} may be absent, but not null")
        return data

    @model_validator(mode="before")
    @classmethod
    def _refuse_known_types(cls, data: Any) -> Any:
        """Refuses a known type as an unknown one: it is malformed then."""
        from .models import KNOWN

        key, known = KNOWN.get(cls.__name__, ("", frozenset()))
        if known and isinstance(data, dict) and isinstance(data.get(key), str) and data[key] in known:
            raise ValueError(f"{data[key]} is a known type, and this is none of its kind")
        return data

    def to_json(self) -> str:
        """Writes the JSON that was read: what was absent stays absent."""
        return self.model_dump_json(by_alias=True, exclude_unset=True)


def event_kind(event: Any) -> str:
    """Tells of which kind an event is: its type says so, and of an unknown type whether it has an expert."""
    from .models import KNOWN

    fields = event if isinstance(event, dict) else getattr(event, "__dict__", {})
    type_ = fields.get("type")
    if not isinstance(type_, str):
        return "runtime-event" if "expertKey" not in fields else "run-event"
    if type_ in KNOWN["UnknownRunEvent"][1]:
        return "run-event"
    if type_ in KNOWN["UnknownRuntimeEvent"][1] or "expertKey" not in fields:
        return "runtime-event"
    return "run-event"


def _takes_anything(annotation: Any) -> bool:
    return annotation is Any or Any in getattr(annotation, "__args__", ())
