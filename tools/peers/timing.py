"""How the peers' programs time a call and print a case: one JSON line each, as `weft bench --json` does."""
import argparse
import json
import pathlib
import time


def time_call(call, seconds):
    """The best and the median time of a call in milliseconds, over at least five calls and `seconds`."""
    for _ in range(3):
        call()
    times, total = [], 0.0
    while total < seconds or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        total += times[-1]
    times.sort()
    return times[0] * 1e3, times[len(times) // 2] * 1e3


def print_case(**line):
    print(json.dumps(line), flush=True)


def refusal(error):
    """What a line says of a case that the peer refuses: the first line of its error."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def time_kernels(peer, threads, kernels, seconds, prepare):
    """Times every kernel of `weft bench --list --json`. prepare(kernel) gives the call, or None where the peer has no such operation."""
    for kernel in kernels:
        line = {"peer": peer, "threads": threads, "case": kernel["case"]}
        try:
            call = prepare(kernel)
            if call is None:
                continue
            line["min_ms"], line["median_ms"] = time_call(call, seconds)
        except Exception as error:  # whatever the peer says: it refuses the case, and the others go on
            line["refused"] = refusal(error)
        print_case(**line)


def page_arguments(description):
    """The arguments of a program that times pages; it may add its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--keep", choices=("asked", "all"), default="all")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    return parser


def time_pages(peer, options, prepare):
    """Times a step of every page. prepare(page) gives the call that is one."""
    for path in options.pages:
        page = json.loads(pathlib.Path(path).read_text())
        line = {"peer": peer, "threads": options.threads, "case": page["page"], "keep": options.keep}
        try:
            best, median = time_call(prepare(page), options.seconds)
            line.update(best_step_us=best * 1e3, median_step_us=median * 1e3, steps_per_s=1e3 / best)
        except Exception as error:  # a page that the peer cannot run: said, and the others go on
            line["refused"] = refusal(error)
        print_case(**line)
