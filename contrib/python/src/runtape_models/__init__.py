"""Pydantic models of what runtape writes, generated from its JSON Schemas.

>>> from runtape_models import parse
>>> entry = parse("transcript-entry", '{"ts":"2026-01-01T00:00:00.000Z","kind":"user","text":"hello"}')
>>> entry.text
'hello'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pydantic import RootModel, TypeAdapter

from . import models
from .base import Model
from .models import KINDS

__all__ = ["KINDS", "Model", "models", "parse", "parse_lines"]


@cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}, expected one of: {', '.join(KINDS)}")
    return TypeAdapter(KINDS[kind])


def parse(kind: str, line: str | bytes) -> Any:
    """Reads one JSON text as a value of a kind; raises `pydantic.ValidationError` if it is none."""
    value = _adapter(kind).validate_json(line)
    while isinstance(value, RootModel):
        value = value.root
    return value


def parse_lines(kind: str, lines: Iterable[str | bytes]) -> Iterator[Any]:
    """Reads JSON lines, as `runtape export` and `--json` write them; blank lines are skipped."""
    return (parse(kind, line) for line in lines if line.strip())
