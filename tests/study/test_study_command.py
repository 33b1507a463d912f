"""What commands of studies share: settings by options, and records printed for programs."""

import json
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from ovrag_core.base.errors import SettingsError
from ovrag_core.base.settings import Settings
from ovrag_core.study.command import Format, Output, print_record, print_records, study_commands, with_settings

RECORDS = [{"place": "Ribé", "metres": 1.5}, {"place": "Brest", "metres": None}]
app = study_commands("Tides.")


@app.command()
@with_settings
def show(
    settings: Settings,
    place: Annotated[str, typer.Argument(help="A harbour.")],
    number: Annotated[int, typer.Option("--number", "-n", help="How many.")] = 1,
    output: Output = Format.text,
) -> int:
    """Show tides."""
    print(place, number, output, settings.retrieval.top_k)
    return 0


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.yaml").write_text("retrieval: {top_k: 2}\n", encoding="utf-8")


def test_a_command_reads_its_settings_by_options_that_its_verb_does_not_name() -> None:
    run = CliRunner().invoke
    assert run(app, ["show", "Brest", "-n", "3", "--params", "few.yaml"]).stdout == "Brest 3 text 2\n"
    overridden = run(app, ["show", "Brest", "-f", "json", "--params", "few.yaml", "-S", "retrieval.top_k=4"])
    assert overridden.stdout == "Brest 1 json 4\n"
    assert isinstance(run(app, ["show", "Brest", "-S", "retrieval.topk=4"]).exception, SettingsError)
    text = run(app, ["show", "--help"]).stdout
    places = [text.index(part) for part in ("Show tides.", "A harbour.", "--number", "--format", "--params", "--set")]
    assert places == sorted(places) and "--settings" not in text


def test_records_are_printed_indented_or_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    def printed() -> str:
        return capsys.readouterr().out

    print_record(RECORDS[0], Format.jsonl)
    assert printed() == '{"place": "Ribé", "metres": 1.5}\n'
    print_record(RECORDS[0], Format.json)
    assert printed() == '{\n  "place": "Ribé",\n  "metres": 1.5\n}\n'
    print_records(RECORDS, Format.json)
    assert json.loads(printed()) == RECORDS
    print_records(RECORDS, Format.jsonl)
    assert [json.loads(line) for line in printed().splitlines()] == RECORDS
    print_records([], Format.jsonl)
    assert printed() == ""
