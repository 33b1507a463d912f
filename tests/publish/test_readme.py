"""What the README says must be there, is there."""

import re
from pathlib import Path

import pandas
import pytest
import typer

from ovrag_core.app.cli import app
from ovrag_core.loop.arms import ARMS
from ovrag_core.publish.readme import FIGURE, refreshed, results_macros, retabled
from ovrag_core.report.numbers import macro_name


@pytest.fixture(scope="module")
def readme(project: Path) -> str:
    return (project / "README.md").read_text(encoding="utf-8")


def test_links_and_pictures_lead_somewhere(project: Path) -> None:
    pages = [
        *project.glob("*.md"),
        *project.glob("docs/*.md"),
        *project.glob("data/*.md"),
        *project.glob("training/*.md"),
    ]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    assert len(links) > 50
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []


def test_every_page_is_reached_from_the_readme(project: Path, readme: str) -> None:
    assert {f"docs/{page.name}" for page in project.glob("docs/*.md")} - set(
        re.findall(r"\]\(([^)#\s]+)\)", readme)
    ) == set()


def test_files_that_it_names_exist(project: Path, readme: str) -> None:
    readme += (project / "docs/claims.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:data|docs|ontologies|tables|tests|benchmarks|notebooks)/[\w./-]*)`", readme))
    named |= {
        word for line in re.findall(r"`((?:pytest|python) [^`]+)`", readme) for word in line.split() if "/" in word
    }
    assert named
    assert sorted(name for name in named if not (project / name).exists()) == []


def test_commands_and_make_targets_exist(project: Path, readme: str) -> None:
    readme += "".join((project / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("claims", "working"))
    known = set(typer.main.get_command(app).commands)
    assert set(re.findall(r"\bovrag ([a-z]+(?:-[a-z]+)*)\b(?! is)", readme)) <= known
    makefile = (project / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+(?:-[a-z]+)*)\b", readme)):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_figures_are_those_of_the_results(project: Path, readme: str) -> None:
    values = results_macros(project)
    for path in (project / "README.md", *sorted((project / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        assert retabled(refreshed(text, values), project) == text, f"{path.name}: run make readme"
    rows = re.findall(r"^\| `(\w+)`: [^|]*\|(.*)\|$", readme, re.M)
    assert [arm for arm, _ in rows] == ["ovrag", "ovrag_scoped", "ovrag_evidence"]
    for arm, cells in rows:
        names = [FIGURE.fullmatch(cell.strip())["name"] for cell in cells.split("|")]
        assert names == [macro_name(arm, what) for what in ("precision", "recall", "f1", "wrong_contract_rate")]


def test_macros_are_those_of_the_tables(project: Path) -> None:
    values = results_macros(project)
    rates = pandas.read_csv(project / "tables/consistency/rates.csv", index_col="arm")
    for arm in ("ovrag", "ovrag_scoped", "ovrag_evidence"):
        for name in ("precision", "recall", "f1"):
            assert values[macro_name(arm, name)] == f"{rates.loc[arm, name]:.3f}", (arm, name)


def test_every_arm_is_described(readme: str) -> None:
    assert set(re.findall(r"^\| `([a-z_]+)` \|", readme, re.M)) == set(ARMS)
