"""Figures in README.md and docs/ have the command that prints them, and the tool that compares both tells when not."""

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.errors import ResultError

COMMAND = (
    """python -c "print('| set | n |'); print('|---|---|'); print('| one | 4 |'); print('| two | 5 |')" """.strip()
)
SLOW = """python -c "print('| what | took |'); print('|---|---|'); print('| check | 12.0 ms |')" """.strip()


@pytest.fixture(scope="module")
def tool(project: Path) -> dict[str, Any]:
    return runpy.run_path(str(project / "tools" / "claims.py"))


def page(*lines: str, command: str = COMMAND, form: str = "printed") -> str:
    return "\n".join(("# Page", f"<!-- {form} by: {command} -->", *lines, "<!-- end -->", "Done.", ""))


@dataclass
class Done:
    """Exit code and streams of the tool."""

    code: int
    out: str
    err: str


@pytest.fixture
def claims(tool: dict[str, Any], project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., Done]:
    """The tool, called in the project's root."""
    monkeypatch.chdir(project)

    def called(*arguments: object) -> Done:
        code = tool["main"]([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return called


def test_what_the_command_prints_agrees_and_it_runs_once(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| set |  n |", "|-----|--|", "| two | 5 |") + page("| one | 4 |"))
    done = claims(path)
    assert done.code == 0, done.out + done.err
    assert done.err.count(COMMAND) == 1


def test_a_line_that_is_not_printed_is_named(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| one | 4 |", "| two | 6 |"))
    done = claims(path)
    assert done.code == 1
    assert f"{path}:4: not printed by" in done.out
    assert "| two | 6 |" in done.out
    assert f"{path}:3:" not in done.out


def test_a_command_that_fails_is_no_pass(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page(command="python -c 'raise SystemExit(\"no such set\")'"))
    done = claims(path)
    assert done.code == 2
    assert "no such set" in done.err


def test_a_block_without_an_end_is_named(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| one | 4 |").replace("<!-- end -->", ""))
    done = claims(path)
    assert done.code == 2
    assert "has no end" in done.err
    assert "Traceback" not in done.err


def test_a_block_within_a_block_is_refused(tool: dict[str, Any]) -> None:
    with pytest.raises(ResultError, match="has no end"):
        tool["blocks"](page("| one | 4 |").replace("<!-- end -->", "") + page("| two | 5 |"))


@pytest.mark.parametrize(("line", "agrees"), [
    ("| check | 30 ms |", True),
    ("| check | 4.1 ms |", True),
    ("| check | 40 ms |", False),
    ("| check | 3 ms |", False),
    ("| checks | 12.0 ms |", False),
])  # fmt: skip
def test_measured_lines_agree_by_a_factor_of_three(tool: dict[str, Any], line: str, agrees: bool) -> None:
    assert (tool["differing"]("measured", [line], ["| check | 12.0 ms |"]) == []) is agrees
    assert tool["differing"]("printed", [line], ["| check | 12.0 ms |"])


def test_refresh_keeps_the_rows_that_a_block_has(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| set | n |", "|---|---|", "| two | 17 |"))
    assert claims(path, "--refresh").code == 0
    assert path.read_text() == page("| set | n |", "|---|---|", "| two | 5 |")


@pytest.mark.parametrize("lines", [(), ("| set | n |", "|---|---|")])
def test_refresh_fills_an_empty_block_or_table(
    claims: Callable[..., Done], tmp_path: Path, lines: tuple[str, ...]
) -> None:
    path = tmp_path / "page.md"
    path.write_text(page(*lines))
    done = claims(path)
    assert done.code == 1
    assert f"{path}:2: the block of" in done.out
    assert claims(path, "--refresh").code == 0
    assert path.read_text() == page("| set | n |", "|---|---|", "| one | 4 |", "| two | 5 |")


def test_refresh_leaves_and_reports_what_is_printed_no_more(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| set | n |", "|---|---|", "| three | 3 |", "Words."))
    done = claims(path, "--refresh")
    assert done.code == 1
    assert "| three | 3 |" in done.out
    assert "Words." in path.read_text()


def test_refresh_leaves_measurements_that_still_agree(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| what | took |", "|---|---|", "| check | 20 ms |", command=SLOW, form="measured"))
    assert claims(path, "--refresh").code == 0
    assert "| check | 20 ms |" in path.read_text()


def test_other_lines_are_renewed_by_their_words(tool: dict[str, Any]) -> None:
    assert tool["renewed"](["found 3 of 9", "Words."], ["found 8 of 9", "more"]) == ["found 8 of 9", "Words."]


def test_only_some_commands_run(claims: Callable[..., Done], tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(page("| one | 400 |") + page("| check | 12.0 ms |", command=SLOW))
    assert claims(path, "--only", "ms |").code == 0
    assert claims(path, "--list").out.splitlines() == [COMMAND, SLOW]


@pytest.mark.parametrize("figure", [
    "0.52", ".98", "6 of 13", "6 of the 13", "nine of ten", "85%", "85 per cent", "[0.1, .95]", "[−5%, 7%]", "12 ms",
    "three minutes", "2.7 GB", "15 ×", "20/20", "1,422 MB", "15-minute",
])  # fmt: skip
def test_a_figure_in_prose_is_loose(tool: dict[str, Any], figure: str) -> None:
    assert tool["loose_figures"](f"First line.\nIt takes {figure} so far.") != []
    assert tool["loose_figures"](f"First line.\nIt takes {figure} so far.")[0][0] == 2


def test_a_number_in_a_cell_is_loose(tool: dict[str, Any]) -> None:
    assert tool["loose_figures"]("| set | found |\n|---|---|\n| one | **17** |\n| `2` | `0.98` |") == [(3, "17")]


@pytest.mark.parametrize("text", [
    "a threshold of `0.98`", "Python 3.11 and SPARQL 1.1", "12 CFR 1026.2 and arXiv 2510.01052", "100 contracts",
    "[page](https://a.b/1.5/20%)", "recall <!-- OvragRecall -->0.780<!-- -->", "```\n3.5 s\n```", "<!-- 2.5 -->",
    "1. First", "pages 3-5", "F1 of the arms", "one of two ways",
])  # fmt: skip
def test_what_is_no_measured_figure_is_left_alone(tool: dict[str, Any], text: str) -> None:
    assert tool["loose_figures"](text) == []


def test_a_figure_in_a_block_is_not_loose(tool: dict[str, Any]) -> None:
    assert tool["loose_figures"](page("| one | 0.5 |", "takes 3 s")) == []
    assert tool["loose_figures"]("Call it:\n\n    ovrag run --shard 2/5\n") == []


def test_no_page_has_a_loose_figure(tool: dict[str, Any], project: Path) -> None:
    pages = {"README.md", *(f"docs/{path.name}" for path in (project / "docs").glob("*.md"))}
    loose = {
        f"{name}:{number}: {figure}"
        for name in pages
        for number, figure in tool["loose_figures"]((project / name).read_text(encoding="utf-8"))
    }
    assert sorted(loose) == []


def test_every_block_is_closed(tool: dict[str, Any], project: Path) -> None:
    for path in (project / "README.md", *sorted((project / "docs").glob("*.md"))):
        tool["blocks"](path.read_text(encoding="utf-8"))


def test_pages_that_show_the_same_row_of_a_command_agree(tool: dict[str, Any], project: Path) -> None:
    shown: dict[tuple[str, str, str], tuple[str, Path]] = {}
    for path in (project / "README.md", *sorted((project / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        for block in tool["blocks"](text):
            for table in tool["groups"](text.splitlines()[block.start : block.end]):
                for row in table[2:]:
                    key = (block.command, tool["folded"](table[0]), tool["first_cell"](row))
                    said, elsewhere = shown.setdefault(key, (tool["folded"](row), path))
                    assert elsewhere == path or said == tool["folded"](row), f"{path.name} and {elsewhere.name} differ"
    assert any(path.name == "README.md" for _, path in shown.values())
