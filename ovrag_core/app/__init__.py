"""The doors of the workbench: command line, explorer, notebooks, and the forecast of what a run costs."""
