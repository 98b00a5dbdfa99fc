"""Pages that are fed their batch, with its data, so that `weft run --shards` can cut it; among them the net that bench_ranks times."""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import pages  # noqa: E402
from pages import integers  # noqa: E402


class ShardedPage:
    """A page, what is fed to it, and which variables it trains."""

    def __init__(self, page, feeds, variables):
        self.page, self.feeds, self.variables = page, feeds, variables
        self.files, self.options = {}, []

    @property
    def session(self):
        return next(block for block in self.page.blocks if block["block"] == "ClientSession")

    def fetch(self, *wires):
        """The session fetches these, too."""
        self.session["inputs"]["fetch_outputs"] += wires
        return self

    def save(self, folder):
        """Writes page and data; gives the arguments that `weft run` needs."""
        folder = pathlib.Path(folder)
        arguments = [str(self.page.save(folder)), *self.options]
        for wire, values in self.feeds.items():
            path = folder / f"{self.page.name}-{wire.split('.')[0]}.npy"
            np.save(path, values)
            arguments += ["--feed", f"{wire}=@{path}"]
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return arguments


def fed(page, **values):
    """Blocks become Placeholders of what they are fed: {"x": array}. What made their first values stays, and nothing reads it."""
    feeds = {}
    for block in page.blocks:
        if block["id"] not in values:
            continue
        output = "ref" if block["block"] == "Variable" else "output"
        feeds[f"{block['id']}.output"] = values[block["id"]]
        old, new = f'"{block["id"]}.{output}"', f'"{block["id"]}.output"'
        block.clear()
        block.update({"id": new[1:-1].split(".")[0], "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}, "inputs": {}})
        page.blocks[:] = json.loads(json.dumps(page.blocks).replace(old, new))
    reads = json.dumps(page.blocks)
    page.blocks[:] = [block for block in page.blocks if not (block["id"].startswith("x_") and f'"x_{block["id"][2:]}.' not in reads.replace(block["id"] + '", "block', ""))]
    trained = [block["inputs"]["var"].split(".")[0] for block in page.blocks if "var" in block["inputs"]]
    return ShardedPage(page, feeds, trained)


def pictures(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def classes(batch, count=10):
    return np.eye(count, dtype=np.float32)[np.random.default_rng(8).integers(0, count, batch)]


def cnn(batch=32):
    page = pages.cnn(batch)
    for block in page.blocks:
        if block["id"] == "flat":
            block["inputs"]["shape"] = integers(-1, 3136)
    return fed(page, x=pictures(batch, 28, 28, 1), labels=classes(batch))
