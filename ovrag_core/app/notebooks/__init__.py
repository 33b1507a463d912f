"""Notebooks: the project's folder for those opened by hand, execution for those run as a stage.

`python -m ovrag_core.app.notebooks notebooks/01_generate_contracts.ipynb` executes one. This module stays light, since
every notebook imports it.
"""

import os
from pathlib import Path

from ovrag_core.app.notebooks.shown_tables import table_html
from ovrag_core.base import project_of


def enter_project() -> Path:
    """Make the project's folder the working directory, wherever the notebook's own folder is, and return it.

    In a notebook, tables are shown from then on as `table_html` has them.
    """
    folder = project_of(Path.cwd())
    os.chdir(folder)
    from IPython import get_ipython  # noqa: PLC0415 - only notebooks have it

    if (shell := get_ipython()) is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for module in ("pandas", "pandas.core.frame"):  # where pandas says that it is, by its version
            formatter.for_type_by_name(module, "DataFrame", table_html)
    return folder
