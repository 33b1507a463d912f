"""Files of text and lines of JSON: what is wrong is said with file, line and field; what is written is whole."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict

from ovrag_core.base.errors import CardError
from ovrag_core.base.records import read_lines, read_records, sidecar, write_records, write_text, writing


class Tide(BaseModel):
    """A record."""

    model_config = ConfigDict(extra="forbid")

    place: str
    metres: float
    kind: Literal["spring", "neap"] = "spring"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "this is not JSON"),
        ('{"place": "Brest"}', "'metres' is missing"),
        ('{"place": "Brest", "metres": 7, "kind": "ebb\\n"}', r"kind is 'ebb\n'; known are 'spring' or 'neap'"),
        ('{"place": "Brest", "metres": "high"}', "metres cannot be used (input should be a valid number, unable"),
        ("[]", "the line cannot be used (input should be an object)"),
    ],
)
def test_a_broken_line_is_named_with_its_field_and_the_remedy(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "tides.jsonl"
    path.write_text(f'\ufeff{{"place": "Cuxhaven", "metres": 3.5}}\n\n{line}\n', encoding="utf-8")
    read = read_records(path, Tide, CardError, "measure again")
    assert next(read) == (1, Tide(place="Cuxhaven", metres=3.5))
    with pytest.raises(CardError) as caught:
        next(read)
    said = str(caught.value)
    assert said.startswith(f"{path}, line 3: {problem}") and said.endswith("; measure again") and "\n" not in said


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("Größe".encode("latin-1"))
    with pytest.raises(CardError, match=r"latin is not UTF-8; save it as UTF-8 and try again$"):
        list(read_lines(tmp_path / "latin", CardError, "give tides"))
    with pytest.raises(CardError, match=r"gone does not exist; give tides$"):
        list(read_lines(tmp_path / "gone", CardError, "give tides"))


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "tides.jsonl"
    odd = {"place": "<Ribé>\u2028\n", "metres": 0.1}
    assert write_records([odd, odd | {"kind": "neap"}], path, CardError) == 2
    assert [each.model_dump(exclude_defaults=True) for _, each in read_records(path, Tide, CardError, "")] == [
        odd,
        odd | {"kind": "neap"},
    ]


def test_a_file_that_is_not_finished_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text("whole\n", path, CardError)
    with pytest.raises(ZeroDivisionError), writing(path, CardError) as file:
        file.write("half")
        file.write(str(1 / 0))
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text(encoding="utf-8") == "whole\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text("", path, CardError)
    for place in (path / "x.html", tmp_path / "gone" / "x.html"):
        with pytest.raises(CardError, match=r"x\.html cannot be written \(.+\); name a file in a folder that exists$"):
            write_text("text", place, CardError)


def test_a_part_of_a_file_stands_beside_it() -> None:
    assert sidecar(Path("runs/a.b.jsonl"), "latency") == Path("runs/a.b.latency.jsonl")
