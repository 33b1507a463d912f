"""Where the project's own files are, from whatever folder a command is started."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def project_file(path: Path) -> Path:
    """`path` where it exists as given, else the same path in the project's folder."""
    return path if path.is_absolute() or path.exists() else ROOT / path
