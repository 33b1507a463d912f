"""The documentation as pages: it builds without a warning, opens from a folder, and every link leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

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


def test_nothing_is_taken_from_the_network(site: Path):
    for page in (site / "index.html", site / "docs/policy.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert '<link rel="stylesheet" href="http' not in text
