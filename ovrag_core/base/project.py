"""Paths of the project's own files, from whatever folder a command is started."""

import os
from pathlib import Path

from ovrag_core.base.errors import NotebookError

_PACKAGE = Path(__file__).resolve().parents[1]
# The checkout; where the package was installed from a wheel, the files that came with it.
ROOT = _PACKAGE / "files" if (_PACKAGE / "files").is_dir() else _PACKAGE.parent
MARK = "params.yaml"
EXTERNAL_FOLDER = Path("data/external")
EXTERNAL = "OVRAG_EXTERNAL_DATA"  # variable of the environment: the folder of data sets that are not the project's


def project_file(path: Path) -> Path:
    """`path` where it exists, else in the project's folder; what is below `data/external`, in `external_data`."""
    if path.is_relative_to(EXTERNAL_FOLDER) and EXTERNAL in os.environ:
        return external_data(*path.relative_to(EXTERNAL_FOLDER).parts)
    return path if path.is_absolute() or path.exists() else ROOT / path


def project_of(folder: Path) -> Path:
    """The nearest folder with a params.yaml, from `folder` upwards, else our own. Raises NotebookError for none."""
    folder = folder.resolve()
    for candidate in (folder, *folder.parents, ROOT):
        if (candidate / MARK).is_file():
            return candidate
    raise NotebookError(f"no {MARK} in {folder} or above it; open the notebook inside the project's folder")


def external_data(*parts: str) -> Path:
    """The path of a data set below `OVRAG_EXTERNAL_DATA`, or `data/external` without it; it need not exist."""
    return Path(os.environ.get(EXTERNAL) or project_file(EXTERNAL_FOLDER)).joinpath(*parts)
