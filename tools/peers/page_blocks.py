"""What the peers' programs read from a page without a peer: attributes, and which blocks a step evaluates, in order."""
import re

STATE = ("Const", "Variable")  # their inputs are read once, when the page starts


def split_attributes(text):
    """"a_ = 1;b_ = {1,2};" as {"a": "1", "b": "{1,2}"}; quotes and braces protect a semicolon."""
    settings = {}
    for part in re.findall(r'(?:[^;{"]|\{[^}]*\}|"(?:[^"\\]|\\.)*")+', text):
        name, equals, value = part.partition("=")
        if equals:
            settings[name.strip().removesuffix("_")] = value.strip()
    return settings


def attributes(block):
    """A block's attributes by name, as spelled or as JSON."""
    attrs = block.get("attrs", {})
    return split_attributes(attrs) if isinstance(attrs, str) else {name.removesuffix("_"): value for name, value in attrs.items()}


def numbers(value):
    """Integers of "{1,2,2,1}", "[2][4]" or a list."""
    return [int(number) for number in re.findall(r"-?\d+", value)] if isinstance(value, str) else [int(number) for number in value]


def wires(given):
    """The wires of an input: one, those of a list, or none."""
    if isinstance(given, list):
        return [wire for item in given for wire in wires(item)]
    return [given] if isinstance(given, str) else []


def literals(given):
    """The literal values of an input, or of a list of them."""
    if isinstance(given, list):
        return [value for item in given for value in literals(item)]
    return [given] if isinstance(given, dict) else []


def block_of(wire):
    return wire.split(".")[0]


def asked_for(page):
    """What the page's only session asks for: wires that it fetches, blocks that it runs."""
    sessions = [block for block in page["blocks"] if block["block"] == "ClientSession"]
    if len(sessions) != 1:
        raise ValueError(f"a page with one session is needed, this has {len(sessions)}")
    inputs = sessions[0].get("inputs", {})
    return wires(inputs.get("fetch_outputs", [])), [block_of(wire) for wire in wires(inputs.get("run_outputs", []))]


def ordered(blocks, first, follow=lambda block: True):
    """The blocks that `first` (ids) need, each after those that it reads. Where follow(block) is false, its inputs are not needed."""
    by_id, order, done, open_ends = {block["id"]: block for block in blocks}, [], set(), [(name, False) for name in reversed(first)]
    while open_ends:
        name, inputs_done = open_ends.pop()
        if name in done:
            continue
        if name not in by_id:
            raise ValueError(f"a wire ends at '{name}', and there is no such block")
        block = by_id[name]
        if inputs_done or not follow(block):
            done.add(name)
            order.append(block)
            continue
        open_ends.append((name, True))
        needed = [block_of(wire) for given in block.get("inputs", {}).values() for wire in wires(given)]
        open_ends += [(other, False) for other in reversed(needed) if other not in done]
    return order


def step_order(page):
    """Blocks that a step of the page evaluates, and before them the Consts and Variables that it reads."""
    fetches, runs = asked_for(page)
    return ordered(page["blocks"], [block_of(wire) for wire in fetches] + runs, lambda block: block["block"] not in STATE)
