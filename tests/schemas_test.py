#!/usr/bin/env python3
"""Validates every sample page, case file and grid against schemas/, and shows that the schemas refuse bad ones.

Usage: schemas_test.py [FILE...]   (default: graphs/**/*.page.json, graphs/**/*.grid.json and tests/**/*.cases.json)
"""
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: schemas_test needs Debian's python3-jsonschema")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


SCHEMAS = {name: load(ROOT / "schemas" / f"{name}.schema.json") for name in ("page", "case", "sweep")}


def checker(name):
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    store = {schema["$id"]: schema for schema in SCHEMAS.values()}
    resolver = jsonschema.RefResolver(SCHEMAS[name]["$id"], SCHEMAS[name], store=store)
    return jsonschema.Draft202012Validator(SCHEMAS[name], resolver=resolver)


CHECKERS = {name: checker(name) for name in SCHEMAS}


def without_values(node):
    """The values of tensors are as many as they are simple: one of each kind stands for all of a tensor."""
    if isinstance(node, list):
        return [without_values(item) for item in node]
    if not isinstance(node, dict):
        return node
    short = {key: without_values(value) for key, value in node.items() if key != "values"}
    if isinstance(node.get("values"), list):
        kinds = {(type(value), value if isinstance(value, str) and "dtype" in node and node["dtype"] != "DT_STRING" else None): value
                 for value in node["values"]}
        short["values"] = list(kinds.values())
    elif "values" in node:
        short["values"] = node["values"]
    return short


def faults(kind, document):
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in CHECKERS[kind].iter_errors(document)]


GOOD_PAGE = {"weft": 1, "page": "p", "title": "kept", "layout": {"a": [1, 2.5]}, "blocks": [
    {"id": "a", "block": "Const", "attrs": {"s": [[1], None]}, "note": 1, "inputs": {
        "v": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, "nan"]}, "w": ["b.y[1]", {"text": "{1}"}]}}]}

# What each change makes of a good page must be refused.
BAD_PAGES = [
    lambda page: page.update(weft=2),
    lambda page: page.pop("blocks"),
    lambda page: page["layout"].update(a=[1]),
    lambda page: page["blocks"].append(5),
    lambda page: page["blocks"][0].update(id="1 a"),
    lambda page: page["blocks"][0].pop("block"),
    lambda page: page["blocks"][0].update(attrs=5),
    lambda page: page["blocks"][0]["inputs"].update(x="a"),
    lambda page: page["blocks"][0]["inputs"].update(x=5),
    lambda page: page["blocks"][0]["inputs"].update(x=[["a.b"]]),
    lambda page: page["blocks"][0]["inputs"].update(x={}),
    lambda page: page["blocks"][0]["inputs"]["v"].update(dtype="DT_FLOT"),
    lambda page: page["blocks"][0]["inputs"]["v"].update(shape=[-1]),
    lambda page: page["blocks"][0]["inputs"]["v"].update(values=[True]),
    lambda page: page["blocks"][0]["inputs"]["v"].update(text="1"),
    lambda page: page["blocks"][0]["inputs"]["v"].pop("dtype"),
]

GOOD_CASE = {"block": "A", "source": "s", "cases": [
    {"name": "n", "inputs": {"x": [{"dtype": "DT_BOOL", "shape": [], "values": [True]}]}, "error": {"code": "invalid_argument", "port": "x"}},
    {"name": "p", "page": {"blocks": [{"id": "a", "block": "A"}]}, "steps": [{"fetch": ["a.y"], "outputs": {"a.y": {"dtype": "DT_INT8", "shape": [0]}}}]}]}

BAD_CASES = [
    lambda file: file.pop("source"),
    lambda file: file["cases"][0].pop("error"),
    lambda file: file["cases"][0]["error"].update(code="wrong"),
    lambda file: file["cases"][0].update(outputz={}),
    lambda file: file["cases"][0]["inputs"]["x"][0].update(values=[1]),
    lambda file: file["cases"][1].pop("steps"),
    lambda file: file["cases"][1]["steps"][0].update(fetch=["a"]),
    lambda file: file["cases"][1]["page"]["blocks"][0].update(more=1),
]

GOOD_SWEEP = {"sweep": 1, "page": "p.page.json", "steps": 3, "set": {"a.b": [1, "x"]}, "seed": 1, "grid": [
    {"set": ["a.v", "b.v"], "name": "n", "log_range": {"from": 0.1, "to": 1, "count": 3}},
    {"zip": [{"feed": "x.y", "values": [1, "@x.npy", True]}, {"cross": [{"set": "c.d", "random": {"normal": [0, 1], "count": 3}}]}]}]}

BAD_SWEEPS = [
    lambda grid: grid.update(sweep=2),
    lambda grid: grid.pop("page"),
    lambda grid: grid.update(step=3),
    lambda grid: grid.update(grid=[]),
    lambda grid: grid["set"].update({"a.c": None}),
    lambda grid: grid["set"].update({"a": 1}),
    lambda grid: grid["grid"][0].pop("set"),
    lambda grid: grid["grid"][0].pop("log_range"),
    lambda grid: grid["grid"][0].update(values=[1]),
    lambda grid: grid["grid"][0]["log_range"].update(to=0),
    lambda grid: grid["grid"][0].update(range={"from": 0, "to": 1}),
    lambda grid: grid["grid"][1].update(name="z"),
    lambda grid: grid["grid"][1]["zip"][0].update(values=[]),
    lambda grid: grid["grid"][1]["zip"][1]["cross"][0]["random"].pop("count"),
    lambda grid: grid["grid"][1]["zip"][1]["cross"][0]["random"].update(uniform=[0, 1]),
]


def check_schemas():
    """The number of changes that the schemas do not notice, and of good documents that they refuse."""
    wrong = 0
    for kind, good, changes in (("page", GOOD_PAGE, BAD_PAGES), ("case", GOOD_CASE, BAD_CASES), ("sweep", GOOD_SWEEP, BAD_SWEEPS)):
        for fault in faults(kind, good):
            print(f"the good {kind}: {fault}")
            wrong += 1
        for number, change in enumerate(changes):
            bad = copy.deepcopy(good)
            change(bad)
            if not faults(kind, bad):
                print(f"bad {kind} {number} is accepted: {bad}")
                wrong += 1
    return wrong


def main(arguments):
    files = [pathlib.Path(name) for name in arguments]
    if not files:
        files = [*sorted((ROOT / "graphs").rglob("*.page.json")), *sorted((ROOT / "graphs").rglob("*.grid.json")),
                 *sorted((ROOT / "tests").rglob("*.cases.json"))]
    failed = check_schemas()
    for path in files:
        kind = "case" if path.name.endswith(".cases.json") else "sweep" if path.name.endswith(".grid.json") else "page"
        found = faults(kind, without_values(load(path)))
        for fault in found:
            print(f"{path}:{fault}")
        failed += bool(found)
    print(f"schemas: {len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
