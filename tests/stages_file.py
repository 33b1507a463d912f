"""dvc.yaml as DVC takes it: a stage that is made for each value of a parameter, written out."""

import yaml


def expanded(stages: dict[str, dict], parameters: dict) -> dict[str, dict]:
    """The stages, each `foreach` as `name@key`."""
    found = {}
    for name, stage in stages.items():
        if "foreach" not in stage:
            found[name] = stage
            continue
        values = stage["foreach"]
        if isinstance(values, str):
            values = parameters
            for key in stage["foreach"].removeprefix("${").removesuffix("}").split("."):
                values = values[key]
        for key in values:
            text = yaml.safe_dump(stage["do"], width=1000).replace("${key}", key).replace("${item}", key)
            found[f"{name}@{key}"] = yaml.safe_load(text)
    return found
