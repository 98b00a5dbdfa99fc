"""How the peers' programs time a call and print a case: one JSON line each, as `weft bench --json` does."""
import json
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
            line["refused"] = (str(error).splitlines() or [type(error).__name__])[0][:200]
        print_case(**line)
