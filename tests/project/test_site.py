"""The documentation as pages: it builds without a warning, opens from a folder, and every link leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import open_browser, require_browser

from ovrag_core.ontology import load_ontology

PROJECT = Path(__file__).resolve().parents[2]


class Links(HTMLParser):
    """Targets of links and pictures of a page, and the places that links can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if (target := named.get("href" if tag == "a" else "src")) is not None:
            self.targets.append(target)
        self.places |= {named[key] for key in ("id", "name") if named.get(key)}


def links(page: Path) -> Links:
    found = Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_link_of_our_pages_leads_to_a_file_and_a_place(site: Path):
    pages = [site / "index.html", *site.glob("docs/*.html"), *site.glob("api/*.html"), site / "reports/index.html"]
    known = {page.resolve(): links(page) for page in pages}
    assert len(pages) > 30
    broken = []
    for page, found in known.items():
        for target in found.targets:
            path, _, place = target.partition("#")
            if "://" in target or target.startswith(("data:", "mailto:")):
                continue
            there = (page.parent / unquote(path)).resolve() if path else page
            if not there.exists() or (place and there in known and unquote(place) not in known[there].places):
                broken.append((page.name, target))
    assert broken == []


def test_modules_are_there_with_their_docstrings(site: Path):
    page = (site / "api/ovrag_core.retrieval.html").read_text(encoding="utf-8")
    assert "Turns texts into vectors of unit length." in page
    assert len(list(site.glob("api/*.html"))) == len(list(PROJECT.glob("ovrag_*/*/__init__.py"))) + 1


def test_every_rule_of_the_ontology_is_on_a_page(site: Path):
    page = (site / "docs/rules.html").read_text(encoding="utf-8")
    rules = load_ontology(PROJECT / "ontologies").rules
    assert len(rules) > 30
    assert [rule.id for rule in rules if f"<code>{rule.id}</code>" not in page] == []


def test_nothing_is_taken_from_the_network(site: Path):
    for page in (site / "index.html", site / "docs/policy.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert '<link rel="stylesheet" href="http' not in text


def test_search_works_in_a_folder(site: Path, tmp_path: Path):
    require_browser()
    with open_browser(tmp_path) as page:
        page.call("Page.navigate", url=(site / "docs/explorer.html").as_uri())
        page.wait("!!document.querySelector('[role=search] input')", 30)
        page.evaluate(
            "(() => { const form = document.querySelector('[role=search] form');"
            "form.querySelector('input').value = 'contradiction'; form.submit(); })()"
        )
        page.wait("document.querySelectorAll('#mkdocs-search-results article').length > 3", 60)
        first = page.evaluate("document.querySelector('#mkdocs-search-results a').href")
        assert (site / unquote(first.partition("#")[0]).removeprefix(site.as_uri() + "/")).is_file()
