"""HTML templates, the same for every page: all that is filled in is untrusted, escaped, and read as it is stored."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

_DIRECTION = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def shown(value: object) -> object:
    """Characters that turn the direction of what follows stand as signs, so that text is read as it is stored."""
    return _DIRECTION.sub("\ufffd", value) if isinstance(value, str) and _DIRECTION.search(value) else value


def page_templates(package: str) -> Environment:
    """The templates beside a package's modules; `shown` passes each value that is filled in."""
    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
        undefined=StrictUndefined,
    )
