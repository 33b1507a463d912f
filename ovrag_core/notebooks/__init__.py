"""Notebooks: the project's folder for those opened by hand, execution for those run as a stage.

`python -m ovrag_core.notebooks notebooks/01_generate_contracts.ipynb` executes one. This module stays light, since
every notebook imports it.
"""

import os
from pathlib import Path

from ovrag_core.errors import NotebookError
from ovrag_core.notebooks.rewritten import watch
from ovrag_core.notebooks.tables import use_in_notebook
from ovrag_core.project import ROOT

MARK = "params.yaml"


def project_of(folder: Path) -> Path:
    """The nearest folder that holds a params.yaml, from `folder` upwards; else the one that this package lies in.

    Raises NotebookError where there is none.
    """
    folder = folder.resolve()
    for candidate in (folder, *folder.parents, ROOT):
        if (candidate / MARK).is_file():
            return candidate
    raise NotebookError(f"no {MARK} in {folder} or above it; open the notebook inside the project's folder")


def enter_project() -> Path:
    """Make the project's folder the working directory, wherever the notebook's own folder is, and return it.

    In a notebook, tables are shown from then on as `tables.table_html` has them, and results that its cells write are
    known as written by it.
    """
    folder = project_of(Path.cwd())
    os.chdir(folder)
    watch(folder)
    use_in_notebook()
    return folder
