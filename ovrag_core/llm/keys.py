"""Where the key of a model server comes from: the environment, or an untracked `.env`. It is never written anywhere."""

from __future__ import annotations

import os
from pathlib import Path

from dotenv import dotenv_values

from ovrag_core.errors import ModelSetupError


def read_key(variable: str = "OPENAI_API_KEY", env_file: Path = Path(".env")) -> str | None:
    """The key, None where there is none. Raises ModelSetupError, without showing it, for one that no server takes."""
    try:
        values = dotenv_values(env_file, interpolate=False) if env_file.is_file() else {}
    except (OSError, UnicodeDecodeError):
        raise ModelSetupError(f"{env_file} cannot be read; write it as lines of {variable}=…") from None
    key = (os.environ.get(variable) or values.get(variable) or "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelSetupError(f"{variable} holds characters that no key has; copy the key anew, without blanks")
    return key or None
