"""Settings files in TOML: read once, validated, every problem in our words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from app.core.errors import InvalidInput
from app.core.validation import Record, problems_in

RecordT = TypeVar("RecordT", bound=Record)


def keys_of(models: Iterable[type[Record]]) -> tuple[str, ...]:
    """Every key of some models, to be suggested for one that is unknown."""
    return tuple(sorted({key for model in models for key in model.model_fields}))


@lru_cache(maxsize=64)
def _record_of(model: type[RecordT], content: bytes) -> RecordT:
    """The record in a file's bytes: a page reads its settings with every press, and records do not
    change.
    """
    return model.model_validate(tomllib.loads(content.decode("utf-8-sig")))


def read_toml(model: type[RecordT], path: Path, place: str, known: Iterable[str]) -> RecordT:
    """The validated record of a file; raises InvalidInput with key and remedy of every problem.

    `place` is `path` as messages show it.
    """
    try:
        record: RecordT = _record_of(model, path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"the file cannot be read: {error.strerror}", place=place) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("the file is not UTF-8", place=place, remedy="Save it so") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"not TOML: {error}", place=place, remedy="Correct it") from error
    except ValidationError as error:
        raise InvalidInput.of(problems_in(error, place, known)) from error
    return record
