"""The study's tabs of the explorer: a pack is opened and rated, a bundle is checked, what is missing is said."""

from pathlib import Path

import pytest

from ovrag_core.explorer.app import explorer
from ovrag_core.project import ROOT
from ovrag_core.studies.policy.audit import write_bundle
from ovrag_core.studies.policy.corpus import Corpus, Read, assemble
from ovrag_core.studies.policy.ratings import Claim, Given, Quotation, make_pack, write_pack
from ovrag_core.studies.policy.tabs import AuditTab, RateTab, study_tabs

RULE = "Dogs stay on a lead."


@pytest.fixture
def corpus() -> Corpus:
    return assemble([Read("park", "park.pdf", 1, 0, RULE)], {"park": "a" * 64})


def test_the_explorer_shows_the_tabs_after_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = explorer(ROOT / "params.yaml", study_tabs())
    assert page.children[-1].titles == ("Ask", "Batch", "Runs", "Rate", "Audit")


def test_a_pack_is_opened_and_what_is_none_is_said(corpus: Corpus, tmp_path: Path) -> None:
    quotation = Quotation(doc_id="park", paragraph_id=corpus.paragraphs[0].id, quote="on a lead")
    given = Given("q", "ours", "Dogs?", (Claim(text=RULE, quotations=[quotation]),))
    write_pack(tmp_path / "pack", *make_pack([given], corpus, 1))
    tab = RateTab()
    for folder, said in (("", "Name the folder"), (str(tmp_path / "none"), "make a rating pack first")):
        tab.folder.value = folder
        tab.open.click()
        assert said in tab.page.children[0].value
    tab.folder.value = str(tmp_path / "pack")
    tab.open.click()
    form = tab.page.children[0].children[1].children[0]
    assert "1 answers. Give your name" in form.children[-1].value


def test_a_bundle_is_checked_and_an_altered_one_named(corpus: Corpus, tmp_path: Path) -> None:
    bundle = write_bundle(tmp_path / "<b>", [], corpus, {"alpha": 0.1})
    tab = AuditTab()
    tab.check.click()
    assert "Name the folder" in tab.said.value
    tab.folder.value, tab.seal.value = str(bundle.folder), bundle.seal
    tab.check.click()
    assert "good" in tab.said.value
    tab.seal.value = "0" * 64
    tab.check.click()
    assert "this is another bundle" in tab.said.value
    settings = bundle.folder / "settings.json"
    settings.write_text(settings.read_text().replace("0.1", "0.2"))
    tab.seal.value = ""
    tab.check.click()
    assert "settings.json, line 2: altered" in tab.said.value
    assert "bad" in tab.said.value
    tab.folder.value = str(tmp_path / "<none>")
    tab.check.click()
    assert "&lt;none&gt; is no folder" in tab.said.value
