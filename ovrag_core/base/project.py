"""Where the project's own files are, from whatever folder a command is started."""

import os
from pathlib import Path

from ovrag_core.base.errors import NotebookError, ResultError

ROOT = Path(__file__).resolve().parents[2]
MARK = "params.yaml"
EXTERNAL = "OVRAG_EXTERNAL_DATA"  # variable of the environment: the folder of data sets that are not the project's
FOLDERS = "OVRAG_EXPLORER_FOLDERS"  # variable of the environment: folders beside the project that a page may open


def project_file(path: Path) -> Path:
    """`path` where it exists as given, else the same path in the project's folder."""
    return path if path.is_absolute() or path.exists() else ROOT / path


def project_of(folder: Path) -> Path:
    """The nearest folder that holds a params.yaml, from `folder` upwards; else the one that this package lies in.

    Raises NotebookError where there is none.
    """
    folder = folder.resolve()
    for candidate in (folder, *folder.parents, ROOT):
        if (candidate / MARK).is_file():
            return candidate
    raise NotebookError(f"no {MARK} in {folder} or above it; open the notebook inside the project's folder")


def open_folder(named: str) -> Path:
    """Return the folder that a page named, without links in its path.

    It lies in the working directory, which is the project's folder, or in one of `FOLDERS`. Raises ResultError for any
    other, and for one with a link that leads out of these.
    """
    allowed = [Path(each).resolve() for each in (".", *filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)))]

    def is_allowed(path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in allowed)

    try:
        path = Path(named).resolve()
        links = [each for each in (path.iterdir() if is_allowed(path) and path.is_dir() else ()) if each.is_symlink()]
        outside = not is_allowed(path) or not all(is_allowed(link.resolve()) for link in links)
    except (OSError, ValueError, RuntimeError):  # may not be read, a zero in the name, a circle of links
        raise ResultError(f"{named} cannot be opened; name another folder") from None
    if outside:
        raise ResultError(f"{named} is or leads outside the project; name its folder with --folder at the start")
    return path


def external_data(*parts: str) -> Path:
    """The path of a data set below `OVRAG_EXTERNAL_DATA`, or `data/external` without it; it need not exist."""
    return Path(os.environ.get(EXTERNAL) or project_file(Path("data/external"))).joinpath(*parts)
