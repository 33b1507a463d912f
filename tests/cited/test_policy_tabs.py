"""The study's tabs of the explorer: a pack is opened and rated, a bundle is checked, what is missing is said."""

from pathlib import Path

import pytest

from ovrag_core.app.explorer.__main__ import main
from ovrag_core.app.explorer.app import explorer
from ovrag_core.base.errors import ResultError
from ovrag_core.base.project import FOLDERS, ROOT, open_folder
from ovrag_studies.cited.answering.audit import write_bundle
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble
from ovrag_studies.cited.measuring.ratings import Given, Quotation, RatedClaim, make_pack, write_pack
from ovrag_studies.cited.tabs import AuditTab, RateTab, study_tabs

RULE = "Dogs stay on a lead."


@pytest.fixture
def corpus() -> PolicyCorpus:
    return assemble([FileParagraph("park", "park.pdf", 1, 0, RULE)], {"park": "a" * 64})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder as the working directory; no other folder is allowed."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.delenv(FOLDERS, raising=False)
    return project


def test_the_explorer_shows_the_tabs_after_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = explorer(ROOT / "params.yaml", study_tabs())
    assert page.children[-1].titles == ("Ask", "Batch", "Runs", "Rate", "Audit")


def test_a_pack_is_opened_and_what_is_none_is_said(corpus: PolicyCorpus, project: Path) -> None:
    quotation = Quotation(doc_id="park", paragraph_id=corpus.paragraphs[0].id, quote="on a lead")
    given = Given("q", "ours", "Dogs?", (RatedClaim(text=RULE, quotations=[quotation]),))
    write_pack(project / "pack", *make_pack([given], corpus, 1))
    tab = RateTab()
    for folder, said in (("", "Name the folder"), ("none", "make a rating pack first"), ("..", "outside the project")):
        tab.folder.value = folder
        tab.open.click()
        assert said in tab.page.children[0].value
    tab.folder.value = "pack"
    tab.open.click()
    form = tab.page.children[0].children[1].children[0]
    assert "1 answers. Give your name" in form.children[-1].value


def test_a_bundle_is_checked_and_an_altered_one_named(corpus: PolicyCorpus, project: Path) -> None:
    bundle = write_bundle(project / "<b>", [], corpus, {"alpha": 0.1})
    tab = AuditTab()
    tab.check.click()
    assert "Name the folder" in tab.said.value
    tab.folder.value, tab.seal.value = str(bundle.folder), bundle.seal
    tab.check.click()
    assert "good" in tab.said.value
    for other in ("0" * 64, "--documents=/"):
        tab.seal.value = other
        tab.check.click()
        assert "this is another bundle" in tab.said.value
    settings = bundle.folder / "settings.json"
    settings.write_text(settings.read_text().replace("0.1", "0.2"))
    tab.seal.value = ""
    tab.check.click()
    assert "settings.json, line 2: altered" in tab.said.value
    assert "bad" in tab.said.value
    tab.folder.value = "<none>"
    tab.check.click()
    assert "&lt;none&gt; is no folder" in tab.said.value
    tab.folder.value = str(project.parent)
    tab.check.click()
    assert "outside the project" in tab.said.value


def test_no_folder_outside_is_opened_by_any_path(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, inside = project.parent / "outside", project / "inside"
    for folder in (outside, inside, project.parent / "project-beside"):
        folder.mkdir()
    (outside / "pack.json").touch()
    (project / "link").symlink_to(outside)
    (inside / "pack.json").symlink_to(outside / "pack.json")
    (project / "circle").symlink_to("circle")
    for named in (
        "/",
        "..",
        str(outside),
        "inside/../../outside",
        "link",
        "link/.",
        "inside",
        "../project-beside",
        "a\0b",
    ):
        with pytest.raises(ResultError, match=r"outside the project|cannot be opened"):
            open_folder(named)
    (inside / "pack.json").unlink()
    (inside / "own.json").symlink_to(project / "own.json")
    assert open_folder("inside") == open_folder("link/../project/inside") == inside.resolve()
    monkeypatch.setenv(FOLDERS, str(outside))
    assert open_folder("link") == open_folder(str(outside)) == outside.resolve()


def test_a_named_folder_that_does_not_exist_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--folder", "no/such"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: --folder no/such: no such folder; name one that holds packs or bundles\n"
