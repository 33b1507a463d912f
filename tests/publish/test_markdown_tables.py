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


def block(path: str = "tables/arms.csv", body: str = "") -> str:
    return f"Before\n\n<!-- table: {path} -->\n{body}<!-- end -->\n\nafter\n"


def test_a_table_has_the_rows_and_columns_of_its_csv(project: Path) -> None:
    made = retabled(block(body="| old |\n|---|\n| 1 |\n"), project)
    assert [line for line in made.splitlines() if line.startswith("| ")] == [
        "| labels | arm | measure | n | value |",
        "| audited | ours | answered | 63 | 0.500 [0.250, 0.750] |",
        "| audited | b2 | answered | 63 | 1.000 [0.900, 1.000] |",
        "| audited | ours | wrong | 30 | 0.100 |",
        "| published | ours | answered | 46 | 0.750 [0.500, 0.875] |",
        "| draft | ours | answered | n/a | 0.500 |",
    ]
    assert made.startswith("Before\n\n<!-- table") and made.endswith("<!-- end -->\n\nafter\n")
    assert retabled(made, project) == made


def test_a_table_that_is_not_there_is_one_sentence(project: Path) -> None:
    said = "takes tables/gone.csv, which cannot be read (No such file or directory)"
    with pytest.raises(ResultError, match=re.escape(said)):
        retabled(block("tables/gone.csv"), project)
