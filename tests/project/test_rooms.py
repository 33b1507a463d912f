"""Rooms know each other by their doors: what a package's stub names, not the modules behind it."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
STUBS = sorted((PROJECT / "ovrag_core").glob("*/__init__.pyi"))
ROOMS = {stub.parent.name for stub in STUBS}


def past_the_door(path: Path) -> Iterator[str]:
    """Imports of a file that take a name out of a module in another room. A module may be taken as a whole."""
    own = path.parent.relative_to(PROJECT).parts[:2]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        parts = tuple(node.module.split("."))
        inside = len(parts) > 2 and parts[0] == "ovrag_core" and parts[1] in ROOMS and parts[:2] != own
        if inside and not all(PROJECT.joinpath(*parts, f"{name.name}.py").is_file() for name in node.names):
            yield f"{path.relative_to(PROJECT)}, line {node.lineno}: {node.module}"


def test_rooms_are_entered_by_their_doors() -> None:
    files = [path for package in ("ovrag_core", "ovrag_studies") for path in (PROJECT / package).rglob("*.py")]
    assert [line for path in files for line in past_the_door(path)] == []


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_a_room_has_what_its_door_names(stub: Path) -> None:
    room = import_module(f"ovrag_core.{stub.parent.name}")
    names = {name.name for node in ast.parse(stub.read_text(encoding="utf-8")).body for name in node.names}
    assert names == set(room.__all__)
    assert all(hasattr(room, name) for name in names)
    modules = {path.stem for path in stub.parent.glob("*.py")}
    assert not modules & names, "a function of its module's name is hidden by the module once that is imported"
