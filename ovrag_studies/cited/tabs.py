"""The study's part of the explorer: a tab to rate a blind pack in, and one to check an audit bundle in."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

import ipywidgets as widgets

from ovrag_core.base.errors import OvragError, ResultError
from ovrag_core.base.project import open_folder, project_file
from ovrag_studies.cited import showing
from ovrag_studies.cited.measuring.rating_widget import rating_page

VERIFIER = Path("tools/verify_audit_bundle.py")
SECONDS = 120
MOST_LINES = 200  # of the verifier's, that are shown


def study_tabs() -> dict[str, widgets.Widget]:
    """The tabs by their titles."""
    return {"Rate": RateTab().widget, "Audit": AuditTab().widget}


class RateTab:
    """A pack is named, then rated."""

    def __init__(self) -> None:
        self.folder = _folder("folder of a pack, as `ovrag policy pack` wrote it")
        self.open = widgets.Button(description="Open the pack", button_style="primary")
        self.page = widgets.VBox([])
        self.folder.add_class("ovp-pack")
        self.open.add_class("ovp-open")
        self.open.on_click(lambda _: self.show())
        self.widget = widgets.VBox([widgets.HTML(showing.style()), widgets.HBox([self.folder, self.open]), self.page])

    def show(self) -> None:
        """Show the page of the pack, or why there is none."""
        try:
            self.page.children = (rating_page(_opened(self.folder.value, "pack")),)
        except OvragError as error:
            self.page.children = (widgets.HTML(showing.message(str(error), "bad")),)


class AuditTab:
    """A bundle is named, then checked by the verifier that needs nothing of this package."""

    def __init__(self) -> None:
        self.folder = _folder("folder of a bundle, as `ovrag policy audit` wrote it")
        self.seal = _folder("its seal, if it was kept elsewhere")
        self.check = widgets.Button(description="Check", button_style="primary")
        self.said = widgets.HTML(showing.message("Every hash, span and quotation of the bundle is checked."))
        for widget, name in ((self.folder, "bundle"), (self.check, "check"), (self.said, "checked")):
            widget.add_class(f"ovp-{name}")
        self.check.on_click(lambda _: self.run())
        row = widgets.HBox([self.folder, self.seal, self.check])
        self.widget = widgets.VBox([widgets.HTML(showing.style()), row, self.said])

    def run(self) -> None:
        """Show what the verifier says."""
        seal = self.seal.value.strip()
        try:
            bundle = str(_opened(self.folder.value, "bundle"))
            # `--seal=`: what begins with a dash is a seal all the same.
            options = [*([f"--seal={seal}"] if seal else []), "--", bundle]
            command = [sys.executable, "-I", str(project_file(VERIFIER)), *options]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except OvragError as error:
            self.said.value = showing.message(str(error), "bad")
            return
        except (OSError, subprocess.TimeoutExpired) as error:
            self.said.value = showing.message(f"The bundle could not be checked: {error}.", "bad")
            return
        lines = (done.stdout + done.stderr).strip().splitlines()
        left = [f"… and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
        shown = "<br>".join(html.escape(line) for line in [*lines[:MOST_LINES], *left])
        kind = "good" if done.returncode == 0 else "bad"
        self.said.value = f'<div class="ovp"><p class="say {kind}">{shown}</p></div>'


def _opened(named: str, what: str) -> Path:
    if not named.strip():
        raise ResultError(f"Name the folder of a {what}.")
    return open_folder(named.strip())


def _folder(words: str) -> widgets.Text:
    return widgets.Text(placeholder=words, layout=widgets.Layout(width="420px"))
