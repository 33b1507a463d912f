"""Files of the site (mkdocs.yml): pages keep their places in the repository, so that links between them hold.

Beside the pages in `docs/` come README.md and its like, the executed notebooks, all files that a page links to, a page
of the ontology's rules, as `ovrag rules` prints it, and a page for each room of the code, which mkdocstrings fills from
docstrings.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

from ovrag_core.base import load_settings
from ovrag_core.ontology import open_ontology, rules_page

STYLE = "css/site.css"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md", "docs/*.md")
CSS = """
.rst-content .wy-table-responsive table td, .rst-content .wy-table-responsive table th, .rst-content table.docutils td {
  white-space: normal; }
.rst-content pre code, .rst-content pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.wy-nav-content { max-width: 1000px; }
"""
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
REPORTS = "reports/*.html"
DIAGRAM = re.compile(r"```mermaid\n.*?```\n", re.DOTALL)
# From a folder a browser starts no worker and fetches no file, so that search, its library and index come by a tag.
SEARCH = """\
window.Worker = class {
  postMessage(message) {
    if (message.query) return this.onmessage({data: {results: search(message.query)}});
    if (!document.getElementById("mkdocs-search-query")) return;
    window.postMessage = (data) => this.onmessage({data});
    document.head.append(Object.assign(document.createElement("script"), {src: `${base_url}/search/all.js`}));
  }
};
"""
NOTE = re.compile(r"<!-- (?:printed by|table|end|/?[A-Z])[^>]*-->")  # marks of generated figures


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """All files, named as in the repository."""
    root = Path(config.config_file_path).parent
    pages = [path for pattern in PAGES for path in sorted(root.glob(pattern))]
    reports = sorted(root.glob(REPORTS))
    linked = {target for page in pages for target in _linked(page)}
    kept = {path.resolve() for path in (*pages, *reports, *linked)}
    made = [_copy(path.relative_to(root.resolve()), path, config) for path in sorted(kept) if path.is_file()]
    made.append(File.generated(config, STYLE, content=CSS))
    made.append(File.generated(config, "reports/index.md", content=_list_reports(reports)))
    rules = rules_page(open_ontology(load_settings(root / "params.yaml")))
    made.append(File.generated(config, "docs/rules.md", content=rules))
    rooms = [path.parent for path in sorted((root / "ovrag_core").glob("*/__init__.py"))]
    rooms += [path.parent for path in sorted((root / "ovrag_studies").glob("*/__init__.py"))]
    names = [".".join(room.relative_to(root).parts) for room in rooms]
    index = "# Modules\n\n" + "".join(f"- [{name}]({name}.md)\n" for name in names)
    made.append(File.generated(config, "api/index.md", content=index))
    made += [File.generated(config, f"api/{name}.md", content=f"# {name}\n\n::: {name}\n") for name in names]
    return Files(
        [*made, *(each for each in files if not each.is_documentation_page() and "pictures" not in each.src_uri)]
    )


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page without the marks of generated figures, and without diagrams that only some viewers draw."""
    return DIAGRAM.sub("", NOTE.sub("", markdown).replace("<!-- -->", ""))


@event_priority(-100)  # after the search has written its files
def on_post_build(config: MkDocsConfig) -> None:
    """Let the search work in a folder, and remove the page of a server, whose links lead nowhere there."""
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)
    files = [Path(config.site_dir, "search", name) for name in ("lunr.js", "worker.js", "search_index.json", "main.js")]
    library, worker, index, main = (file.read_text(encoding="utf-8") for file in files)
    whole = f"{library}\n{worker}\ndata = {index};\nonScriptsLoaded();\n"
    files[0].with_name("all.js").write_text(whole, encoding="utf-8")
    files[3].write_text(SEARCH + main, encoding="utf-8")
    for file in files[:3]:
        file.unlink()


def _linked(page: Path) -> list[Path]:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    return [(page.parent / target) for target in targets if "://" not in target]


def _copy(name: Path, path: Path, config: MkDocsConfig) -> File:
    return File.generated(config, name.as_posix(), abs_src_path=str(path))


def _list_reports(reports: list[Path]) -> str:
    rows = (f"- [{path.stem.replace('_', ' ')}]({path.name})\n" for path in reports)
    return "# Executed notebooks\n\nAs `make reproduce` left them.\n\n" + "".join(rows)
