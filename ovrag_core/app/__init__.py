"""The doors of the workbench: command line, explorer and notebooks."""
