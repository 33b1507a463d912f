"""The key of a model server: where it comes from, and which server it is for. It is never written anywhere."""

import ipaddress
import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from dotenv import dotenv_values

from ovrag_core.base import ModelSetupError

OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"


class Address(NamedTuple):
    """Address of a model server, `host` as it is shown, and what decides on the key."""

    host: str
    local: bool
    openai: bool
    encrypted: bool


def read_address(base_url: str) -> Address:
    """Address of a server from its URL. Raises ModelSetupError where it is none, or holds a password."""
    try:
        url = urlsplit(base_url)
        name, port = url.hostname, url.port
    except ValueError:
        name, port = None, None
    if not name or url.scheme not in ("http", "https") or url.password is not None:
        raise ModelSetupError("base_url must be an address like https://api.openai.com/v1, without a password")
    try:
        local = ipaddress.ip_address(name).is_loopback
    except ValueError:
        local = name == "localhost"
    return Address(
        host=f"{name}:{port}" if port else name,
        local=local,
        openai=name == OPENAI_HOST or name.endswith(f".{OPENAI_HOST}"),
        encrypted=url.scheme == "https",
    )


def key_for(base_url: str, variable: str, env_file: Path) -> str | None:
    """Key that the server at `base_url` is sent, None for none: OPENAI_API_KEY goes to OpenAI and to nobody else.

    Raises ModelSetupError where OpenAI, or a server on another machine whose variable the settings name, has no key.
    """
    address = read_address(base_url)
    if variable == OPENAI_KEY and not address.openai:
        return None
    key = read_key(variable, env_file)
    if key is None and not address.local:
        raise ModelSetupError(f"there is no key for {address.host}; put it into {variable}, in the environment or .env")
    return key


def read_key(variable: str = OPENAI_KEY, env_file: Path = Path(".env")) -> str | None:
    """The key, None where there is none. Raises ModelSetupError, without showing it, for one that no server takes."""
    try:
        values = dotenv_values(env_file, interpolate=False) if env_file.is_file() else {}
    except (OSError, UnicodeDecodeError):
        raise ModelSetupError(f"{env_file} cannot be read; write it as lines of {variable}=…") from None
    key = (os.environ.get(variable) or values.get(variable) or "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelSetupError(f"{variable} holds characters that no key has; copy the key anew, without blanks")
    return key or None
