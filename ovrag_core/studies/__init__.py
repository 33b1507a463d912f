"""Studies: each a package of its own that uses the shared parts and never another study."""
