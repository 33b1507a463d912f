"""Types, errors, settings, progress and the project's places, on which every room stands."""
