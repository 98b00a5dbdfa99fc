"""Pages that the tests use."""
import pathlib

GRAPHS = pathlib.Path(__file__).resolve().parents[2] / "graphs"
XOR = GRAPHS / "xor.page.json"


def const(id, dtype, shape, values):
    return {"id": id, "block": "Const", "inputs": {"value": {"dtype": dtype, "shape": shape, "values": values}}}


def page(*blocks):
    return {"weft": 1, "page": "test", "blocks": list(blocks)}


def doubling(dtype="DT_FLOAT", shape=(2, 3)):
    """double.z = x.output + x.output, of x = 0, 1, 2 ..."""
    count = 1
    for size in shape:
        count *= size
    return page(const("x", dtype, list(shape), list(range(count))),
                {"id": "double", "block": "Add", "inputs": {"x": "x.output", "y": "x.output"}})


def counter():
    """Each run adds 1 to the variable n."""
    return page({"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_INT32", "shape": [], "values": [0]}}},
                {"id": "up", "block": "AssignAdd", "inputs": {"ref": "n.ref", "value": {"dtype": "DT_INT32", "shape": [], "values": [1]}}},
                {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["n.ref"], "run_outputs": ["up.operation"]}})


def long_product(size=4000):
    """A product of matrices that takes seconds."""
    side = {"dtype": "DT_INT32", "shape": [2], "values": [size, size]}
    one = {"dtype": "DT_FLOAT", "shape": [], "values": [1]}
    return page({"id": "ones", "block": "Fill", "inputs": {"dims": side, "value": one}},
                {"id": "product", "block": "MatMul", "inputs": {"a": "ones.output", "b": "ones.output"}},
                {"id": "again", "block": "MatMul", "inputs": {"a": "product.product", "b": "ones.output"}})
