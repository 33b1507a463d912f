"""Tables of results in Markdown: taken from their CSV, and refused with a sentence where they cannot be."""

import re
from pathlib import Path

import pytest

from ovrag_core.base.errors import ResultError
from ovrag_core.publish.readme import retabled

CSV = """labels,arm,measure,n,value,value_low,value_high
audited,ours,answered,63,0.5,0.25,0.75
audited,b2,answered,63,1,0.9,1
audited,ours,wrong,30,0.1,,
published,ours,answered,46,0.75,0.5,0.875
draft,ours,answered,,0.5,,
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/arms.csv").write_text(CSV, encoding="utf-8")
    return tmp_path


def block(options: str, body: str = "") -> str:
    return f"Before\n\n<!-- table: tables/arms.csv{options} -->\n{body}<!-- end -->\n\nafter\n"


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            "; rows: published",
            [
                "| labels | arm | measure | n | value |",
                "| published | ours | answered | 46 | 0.750 [0.500, 0.875] |",
            ],
        ),
        ("; rows: draft", ["| labels | arm | measure | n | value |", "| draft | ours | answered | n/a | 0.500 |"]),
        (
            "; columns: measure, arm, value; rows: audited & answered|wrong; across: arm",
            ["| measure | ours | b2 |"],
        ),
    ],
)
def test_a_table_has_the_rows_and_columns_that_are_asked_for(project: Path, options: str, lines: list[str]) -> None:
    text = block(options, "| old |\n|---|\n| 1 |\n")
    made = retabled(text, project)
    if "across" in options:
        lines = [*lines, "| answered | 0.500 [0.250, 0.750] | 1.000 [0.900, 1.000] |", "| wrong | 0.100 | – |"]
    assert [line for line in made.splitlines() if line.startswith("| ")] == lines
    assert made.startswith("Before\n\n<!-- table") and made.endswith("<!-- end -->\n\nafter\n")
    assert retabled(made, project) == made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (block("; rows: nothing"), "the table tables/arms.csv has no such rows"),
        (block("; columns: labels, gone"), "the table tables/arms.csv has no column"),
        (block("; order: up"), "is asked for order; known are rows, columns, across"),
        (block("").replace("arms", "gone"), "takes tables/gone.csv, which cannot be read (No such file or directory)"),
    ],
)
def test_a_table_that_cannot_be_is_one_sentence(project: Path, text: str, said: str) -> None:
    with pytest.raises(ResultError, match=re.escape(said)):
        retabled(text, project)
