"""Looking up the models by a path of a document: which keys a mapping may have, what the schema says about one."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from commonplace.scenario.model import Part, ScenarioPart
from commonplace.scenario.plain import Path


def keys_at(path: Path) -> list[str]:
    """The keys the mapping at the path may have; empty when it is no part of the model."""
    return list(_fields(_annotation(path)))


def field_at(path: Path) -> FieldInfo | None:
    """The field of the model that the path's last key names."""
    return _fields(_annotation(path[:-1])).get(str(path[-1])) if path else None


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    """A part's fields by the key that stands in the file; nothing for what is no part."""
    if not (isinstance(annotation, type) and issubclass(annotation, Part)):
        return {}
    return {field.alias or name: field for name, field in annotation.model_fields.items()}


def _annotation(path: Path) -> Any:
    here: Any = ScenarioPart
    for key in path:
        here = _inside(here, key)
    return here


def _inside(annotation: Any, key: str | int) -> Any:
    """The type under a key of a part or a mapping, or at a position of a list."""
    if get_origin(annotation) is Annotated:
        return _inside(get_args(annotation)[0], key)
    field = _fields(annotation).get(str(key))
    if field is not None:
        return field.annotation
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if get_origin(annotation) is tuple else None
