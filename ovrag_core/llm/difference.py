"""Find where a request differs from a recorded one, for the sentence that says why nothing could be replayed."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from pydantic import JsonValue


def flat(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Every field of a request with its path, in the order in which a person would compare them."""
    if isinstance(value, dict):
        for name, child in sorted(value.items(), key=lambda item: (item[0] in ("schema", "messages", "text"), item[0])):
            yield from flat(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from flat(child, f"{path}[{number}]")
    else:
        yield path, value


def _differing(wanted: Mapping[str, JsonValue], stored: Mapping[str, JsonValue]) -> list[str]:
    # 1, 1.0 and true are equal in Python and three things in JSON; what is not there is of no type that JSON has.
    pairs = {name: (wanted.get(name, ...), stored.get(name, ...)) for name in (*wanted, *stored)}
    return [name for name, (here, there) in pairs.items() if type(here) is not type(there) or here != there]


def distance(wanted: Mapping[str, JsonValue], stored: Mapping[str, JsonValue]) -> tuple[int, int]:
    """Fields that differ, then how little the first of them agrees."""
    names = _differing(wanted, stored)
    return len(names), -_common(wanted.get(names[0]), stored.get(names[0]))


def _common(one: JsonValue, other: JsonValue) -> int:
    """Count the characters that two texts agree in from the start."""
    if not isinstance(one, str) or not isinstance(other, str):
        return 0
    return bisect_left(range(min(len(one), len(other))), True, key=lambda n: one[: n + 1] != other[: n + 1])


def difference(wanted: Mapping[str, JsonValue], stored: Mapping[str, JsonValue]) -> str:
    """The first field that differs, and how."""
    name = _differing(wanted, stored)[0]
    if name not in wanted or name not in stored:
        return f"{name}, which is only {'in the recorded one' if name in stored else 'here'}"
    wanted_value, stored_value = wanted[name], stored[name]
    if not isinstance(wanted_value, str) or not isinstance(stored_value, str):
        return f"{name}: {wanted_value!r} here, {stored_value!r} recorded"
    start = _common(wanted_value, stored_value)
    shown = slice(max(0, start - 10), start + 30)
    return f"{name} at character {start}: {wanted_value[shown]!r} here, {stored_value[shown]!r} recorded"
