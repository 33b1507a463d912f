"""Compare the figures in README.md and docs/*.md with what their commands print: `python tools/claims.py [FILE ...]`.

A measured figure stands in one of four forms:

    <!-- OvragRecall -->0.780<!-- -->                          the macro of a result, kept by `make readme`
    <!-- table: tables/policy/external/arms.csv -->            lines of a result, up to <!-- end -->, kept likewise
    <!-- printed by: python benchmarks/reading.py --set x -->  lines that the command prints, up to <!-- end -->
    <!-- measured by: COMMAND -->                              the same where the machine's speed is in the numbers

Every line of a `printed by` block must be a line of the command's standard output, white space folded. In a `measured
by` block the words must agree, and each number by a factor of three. A command runs once, however many blocks name it,
in the project's root with the interpreter's own folder first on the PATH; data sets are found by OVRAG_EXTERNAL_DATA.

`--refresh` writes the lines anew. A table's rows become the rows that the output has under the same header, and of
these only the ones whose first cell the block has already; a header alone takes all of them. Tables of an output that
have the same header count as one. Any other line becomes the output's line with the same words. An empty block takes
the whole output. What finds no counterpart is left as it is and reported.

`--loose` runs nothing: it lists figures in none of the four forms (see `loose_figures`).

Exit code 0: all agree; 1: a line differs, a block is empty, a macro is stale or a figure is loose; 2: a command fails,
or a block has no end.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base import OvragError, ResultError, project_of
from ovrag_core.publish import FIGURE, TABLE, refreshed, results_macros, retabled

OPENING = re.compile(r"<!-- (?P<form>printed|measured) by: (?P<command>.+?) -->")
END = "<!-- end -->"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
RULE = re.compile(r"\|[\s|:-]+\|")  # the line under a table's header
# A measurement that the machine's speed is part of may differ by this factor.
SPREAD = 3.0

WORD = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred)"
COUNT = rf"(?:(?<!\w)\d[\d,]*|\b{WORD})"
UNIT = r"(?:ms|s|h|[kMG]i?B|milliseconds?|seconds?|minutes?|hours?|megabytes?|gigabytes?)"
LOOSE = re.compile(
    r"\[\s*[-−]?[\d.]+%?\s*,\s*[-−]?[\d.]+%?\s*\]"  # an interval
    rf"|(?:{COUNT}|\d*\.\d+)[ -]{UNIT}\b"
    r"|(?<!\w)\d[\d,.]*\s?(?:%|per cent|×)"
    rf"|{COUNT} of (?:the |its |all |these )?{COUNT}\b"
    r"|(?<![\w.,/])\d+/\d+(?![\w/])"
    r"|(?<![\w.])[-−]?\d*\.\d+(?![\w.])",
    re.IGNORECASE,
)
# Numbers that belong to a name: a version, a section, a paper.
NAMED = re.compile(
    r"\b(?:Python|SPARQL|OWL|RDF|CFR|UCC|BY|BY-SA|arXiv|Section|Sections|[Vv]ersion|HermiT|Pellet|CUDA|Java) v?\d[\d.]*"
)
INDENTED = "    "  # of code
CELL = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a page that a command prints: `lines[start:end]` of the page, numbered from 0, without the marks."""

    form: str
    command: str
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """Blocks of a Markdown text. Raises ResultError for one that has no end."""
    found: list[Block] = []
    opened: tuple[re.Match[str], int] | None = None
    for number, line in enumerate(text.splitlines()):
        match = OPENING.fullmatch(line.strip())
        if opened and (match or line.strip() == END):
            if match:
                break
            found.append(Block(opened[0]["form"], opened[0]["command"], opened[1], number))
            opened = None
        elif match:
            opened = match, number + 1
    if opened:
        raise ResultError(f"the block of line {opened[1]} ({opened[0]['command']}) has no end: put {END} after it")
    return found


def folded(line: str) -> str:
    """Line with its white space folded, and the rule of a table without its widths."""
    line = " ".join(line.split())
    return re.sub(r"\s*(:?)-+(:?)\s*", r"\1-\2", line) if RULE.fullmatch(line) else line


def masked(line: str) -> str:
    """Line without its numbers."""
    return NUMBER.sub("#", folded(line))


def near(line: str, printed: str) -> bool:
    """Tell if two lines have the same words, and numbers within a factor of three."""
    if masked(line) != masked(printed):
        return False
    pairs = zip(numbers(line), numbers(printed), strict=True)
    return all(a == b or (min(a, b) > 0 and max(a, b) <= SPREAD * min(a, b)) for a, b in pairs)


def numbers(line: str) -> list[float]:
    """Numbers of a line in order."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(folded(line))]


def differing(form: str, lines: Iterable[str], printed: Sequence[str]) -> list[tuple[int, str]]:
    """Non-empty lines of a block that the command does not print, each with its place in the block."""
    exact = {folded(line) for line in printed}

    def agrees(line: str) -> bool:
        return folded(line) in exact or (form == "measured" and any(near(line, other) for other in printed))

    return [(place, line) for place, line in enumerate(lines) if line.strip() and not agrees(line)]


def renewed(lines: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Lines of a block as the command prints them now; a line without a counterpart stays."""
    if not any(line.strip() for line in lines):
        return list(printed)
    tables = tables_of(printed)
    exact = {folded(line) for line in printed}
    by_words = {masked(line): line for line in reversed(printed)}
    result: list[str] = []
    for group in groups(lines):
        header = folded(group[0])
        if is_row(group[0]) and header in tables:
            wanted = {first_cell(line) for line in group[2:]}
            chosen = [row for row in tables[header] if not wanted or first_cell(row) in wanted]
            gone = [row for row in group[2:] if first_cell(row) not in {first_cell(new) for new in chosen}]
            result += [*group[:2], *chosen, *gone]
        else:
            result += [line if folded(line) in exact else by_words.get(masked(line), line) for line in group]
    return result


def is_row(line: str) -> bool:
    """Tell if a line is of a table."""
    return line.lstrip().startswith("|")


def is_empty(lines: Sequence[str]) -> bool:
    """Tell if a block holds nothing, or a table's header alone."""
    filled = [line for line in lines if line.strip()]
    return not filled or (len(filled) == 2 and is_row(filled[0]) and RULE.fullmatch(filled[1].strip()) is not None)


def first_cell(row: str) -> str:
    """First cell of a table's row, which names it."""
    return folded(row).strip("|").split("|")[0].strip()


def groups(lines: Iterable[str]) -> Iterator[list[str]]:
    """Tables, each as one group, and every other line by itself."""
    table: list[str] = []
    for line in lines:
        if is_row(line):
            table.append(line)
            continue
        if table:
            yield table
        table = []
        yield [line]
    if table:
        yield table


def tables_of(printed: Sequence[str]) -> dict[str, list[str]]:
    """Rows of the tables of an output by header; tables with one header are one."""
    found: dict[str, list[str]] = {}
    for group in groups(printed):
        if is_row(group[0]):
            found.setdefault(folded(group[0]), []).extend(group[2:])
    return found


def loose_figures(text: str) -> list[tuple[int, str]]:
    """Figures of a Markdown text in none of the four forms, with their lines, numbered from 1.

    A figure is a decimal, `N of M`, `N/M`, a percentage, an interval, a duration, a size, and a table's cell that is a
    number. Code, links' addresses, comments, and numbers that belong to a name (Python 3.11) are left out.
    """
    lines = text.splitlines()
    inside = {number for block in blocks(text) for number in range(block.start, block.end)}
    for match in TABLE.finditer(text):
        first = text.count("\n", 0, match.start("body"))
        inside |= set(range(first, first + match["body"].count("\n")))
    fenced = False
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fence or fenced or number in inside or line.startswith(INDENTED):
            continue
        prose = re.sub(r"<!--.*?-->", " ", FIGURE.sub("macro", line))
        prose = re.sub(r"``.+?``|`[^`]*`|!\[[^]]*\]|\]\([^)]*\)|<?https?://\S+", "code", prose)
        prose = NAMED.sub("name", prose)
        found += [(number + 1, match[0].strip()) for match in LOOSE.finditer(prose)]
        if is_row(prose):
            cells = (cell.strip(" *") for cell in prose.strip().strip("|").split("|"))
            found += [(number + 1, cell) for cell in cells if CELL.fullmatch(cell) and "." not in cell]
    return found


def run(command: str, project: Path) -> list[str]:
    """Lines that a command prints. Raises ResultError where it ends with another exit code than 0."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    started = time.perf_counter()
    done = subprocess.run(
        command, shell=True, cwd=project, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    print(f"{time.perf_counter() - started:6.1f} s  {command}", file=sys.stderr, flush=True)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it prints nothing").splitlines()[-1]
        raise ResultError(f"{command}: exit code {done.returncode}, {last}")
    return done.stdout.splitlines()


def refresh(text: str, outputs: Mapping[str, Sequence[str]]) -> str:
    """The text with the blocks of these commands as they print them."""
    lines = text.splitlines()
    for block in reversed(blocks(text)):
        if block.command not in outputs:
            continue
        old, printed = lines[block.start : block.end], outputs[block.command]
        if block.form == "printed" or is_empty(old) or differing(block.form, old, printed):
            lines[block.start : block.end] = renewed(old, printed)
    return "\n".join(lines) + "\n"


def report(name: str, text: str, outputs: Mapping[str, Sequence[str]], values: Mapping[str, str]) -> int:
    """Print each line of a page that its command does not print, and stale macros. Returns how many there are."""
    lines = text.splitlines()
    wrong = 0
    for block in blocks(text):
        if block.command not in outputs:
            continue
        if is_empty(lines[block.start : block.end]):
            print(f"{name}:{block.start}: the block of {block.command} is empty; --refresh fills it")
            wrong += 1
        for place, line in differing(block.form, lines[block.start : block.end], outputs[block.command]):
            print(f"{name}:{block.start + place + 1}: not printed by {block.command}\n    {line.strip()}")
            wrong += 1
    if retabled(refreshed(text, values), project_of(Path.cwd())) != text:
        print(f"{name}: figures differ from the results; `make readme` brings them up to date")
        wrong += 1
    return wrong


def pages(names: Sequence[str], project: Path) -> dict[Path, str]:
    """Texts of the named pages, by default README.md and docs/*.md. Raises ResultError for one that cannot be read."""
    paths = [Path(name) for name in names] or [project / "README.md", *sorted((project / "docs").glob("*.md"))]
    try:
        return {path: path.read_text(encoding="utf-8") for path in paths}
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"a page cannot be read ({error}); name Markdown files") from None


def check(arguments: argparse.Namespace, project: Path) -> int:
    """Do what the command line asks for. Returns the exit code."""
    texts = pages(arguments.files, project)
    if arguments.loose:
        loose = [(path, *figure) for path, text in texts.items() for figure in loose_figures(text)]
        for path, number, figure in loose:
            print(f"{path}:{number}: {figure}")
        return int(bool(loose))
    named = dict.fromkeys(block.command for text in texts.values() for block in blocks(text))
    commands = [command for command in named if arguments.only in command]
    if arguments.list:
        print("\n".join(commands))
        return 0
    outputs: dict[str, list[str]] = {}
    failed = 0
    for command in commands:
        try:
            outputs[command] = run(command, project)
        except ResultError as error:
            print(error, file=sys.stderr)
            failed += 1
            continue
        if arguments.refresh:  # after each command, so that an interrupted call keeps what is done
            for path in (path for path, text in texts.items() if blocks(text)):
                texts[path] = refresh(texts[path], outputs)
                path.write_text(texts[path], encoding="utf-8", newline="\n")
    values = results_macros(project)
    wrong = sum(report(str(path), text, outputs, values) for path, text in texts.items())
    print(f"{len(outputs)} commands run, {failed} failed, {wrong} lines differ", file=sys.stderr)
    return 2 if failed else int(wrong > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the pages of the command line; one line on stderr and exit code 2 where one cannot be checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="Markdown files (default: README.md and docs/*.md)")
    parser.add_argument("--refresh", action="store_true", help="write the blocks as the commands print them")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the commands that contain TEXT")
    parser.add_argument("--list", action="store_true", help="list the commands and run none")
    parser.add_argument("--loose", action="store_true", help="list figures in none of the four forms and run nothing")
    try:
        return check(parser.parse_args(arguments), project_of(Path.cwd()))
    except OvragError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
