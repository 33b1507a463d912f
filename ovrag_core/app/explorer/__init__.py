"""The explorer: a page to look inside a single query, to run a few, and to look at a run's results."""

import sys

# jsonschema, which the server loads, would parse a grammar of IRIs for over a second, twice before the first
# answer; without it, it does not check the format of IRIs, which nothing here uses.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
