"""Studies beside the main experiment, each a package of its own that builds on the core and on no other study."""
