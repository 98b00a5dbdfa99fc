"""Sweeps on a cluster of Dask: the points of a grid (docs/scale.md) on its workers, their results in the sweep's journal.

    python3 -m weft.sweep lr.grid.json --dask tcp://scheduler:8786 --table lr.csv

Each task calls `weft sweep GRID --points A-B` on a worker, which needs the program and the grid's files under the same paths. The lines come back
through Dask; one process here, `weft sweep GRID --collect`, writes them to the journal, each point once. What was interrupted goes on when the
command is given again. Without --dask it is `weft sweep` on this machine.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import threading

TASK_OPTIONS = ("--allow", "--write", "--library", "--allow-blocks", "--refuse-blocks", "--memory", "--threads", "--jobs")
END_OPTIONS = ("--table", "--plot", "--over", "--by", "--plot-file")
FOLDERS = ("--allow", "--write")
TASKS_A_THREAD = 8  # so that all workers end at about the same time
MOST_POINTS_A_TASK = 1000


class SweepError(Exception):
    """A sweep that could not be run; the text says why, and what to do."""


def _say(program: str, *arguments: str) -> str:
    """What `weft sweep` prints."""
    try:
        done = subprocess.run([program, "sweep", *arguments], capture_output=True, text=True)
    except OSError as error:
        raise SweepError(f"'{program}' could not be run: {error.strerror} (--weft PROGRAM names it)") from None
    if done.returncode != 0:
        raise SweepError(done.stderr.strip() or f"weft sweep ended with {done.returncode}")
    return done.stdout.strip()


def chunks(ranges: str, size: int) -> list[tuple[int, int]]:
    """The points of "0-99,120", at most `size` together."""
    parts = []
    for text in filter(None, ranges.split(",")):
        first, _, last = text.partition("-")
        begin, end = int(first), int(last or first)
        parts += [(at, min(at + size - 1, end)) for at in range(begin, end + 1, size)]
    return parts


def _points(ranges: str) -> int:
    return sum(last - first + 1 for first, last in chunks(ranges, sys.maxsize))


def _task():
    """What a worker calls. Made here, so that it travels by its code: workers need not have this package."""

    def run_points(command, first, last):
        import subprocess
        try:
            done = subprocess.run([*command, "--points", f"{first}-{last}", "--journal", "-"], capture_output=True)
        except OSError as error:
            raise RuntimeError(f"'{command[0]}' could not be run on the worker: {error.strerror} (--weft PROGRAM names it)") from None
        # A line for the sweep and one for each point; the status is 1 where a point failed, which its line says.
        if done.returncode not in (0, 1) or done.stdout.count(b"\n") != last - first + 2:
            raise RuntimeError(done.stderr.decode(errors="replace").strip() or f"weft sweep ended with {done.returncode}")
        return done.stdout

    return run_points


class Collector:
    """The one process that writes the journal."""

    def __init__(self, program: str, grid: str, journal: list[str]):
        self._errors = []
        # In a session of its own Ctrl-C does not reach it: it ends when its input does, with all that was done.
        self._process = subprocess.Popen([program, "sweep", grid, "--collect", "--from", "-", "--quiet", *journal], stdin=subprocess.PIPE,
                                         stderr=subprocess.PIPE, start_new_session=True)
        self._reader = threading.Thread(target=lambda: self._errors.append(self._process.stderr.read().decode(errors="replace")))
        self._reader.start()

    def take(self, lines: bytes) -> None:
        try:
            self._process.stdin.write(lines)
            self._process.stdin.flush()
        except BrokenPipeError:
            self.close()

    def close(self) -> None:
        """Waits until all is in the journal."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        status = self._process.wait()
        self._reader.join()
        errors = "".join(self._errors)
        if status != 0:
            raise SweepError(errors.strip() or f"the journal could not be written: weft sweep ended with {status}")


def _show(done: int, all_points: int) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{done:,} of {all_points:,} points of this run done", end="" if done < all_points else "\n", file=sys.stderr, flush=True)


def run(grid: str, client, program: str = "weft", chunk: int = 0, options: list[str] = (), journal: list[str] = (), retry: bool = False) -> int:
    """Runs what is missing of a sweep on the workers of a `distributed.Client`. Gives the number of points that were run. Raises SweepError."""
    if chunk < 0:
        raise SweepError(f"a task needs a number of points, 0 or more, found {chunk}")
    from distributed import as_completed

    grid, program = os.path.abspath(grid), _absolute(program)
    missing = _say(program, grid, "--missing", *journal, *(["--retry"] if retry else []))
    points = _points(missing)
    if points == 0:
        return 0
    if not chunk:
        threads = sum(client.nthreads().values()) or 1
        chunk = max(1, min(MOST_POINTS_A_TASK, points // (TASKS_A_THREAD * threads)))
    command = [program, "sweep", grid, *options]
    if "--jobs" not in options:
        command += ["--jobs", "1"]  # a task is one thread of Dask's
    task, collector, done = _task(), Collector(program, grid, list(journal)), 0
    futures = {}
    try:
        for first, last in chunks(missing, chunk):
            futures[client.submit(task, command, first, last, pure=False, retries=2)] = last - first + 1
        for future in as_completed(list(futures)):
            if future.status == "error":
                raise SweepError(f"a task failed: {future.exception()}")
            if future.status != "finished":
                raise SweepError(f"a task was {future.status}: the scheduler is gone, or somebody cancelled it (the same command continues)")
            collector.take(future.result())
            done += futures.pop(future)
            future.release()
            _show(done, points)
    finally:
        if futures:
            client.cancel(list(futures))
        collector.close()
    return done


def _chunk(text: str) -> int:
    try:
        chunk = int(text)
    except ValueError:
        chunk = -1
    if chunk < 0:
        raise argparse.ArgumentTypeError(f"needs a number of points, 0 or more, found '{text}'")
    return chunk


def _arguments(texts: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m weft.sweep", description="Runs the points of a grid on a cluster of Dask.",
                                     epilog="Other options are those of weft sweep.")
    parser.add_argument("grid", metavar="GRID")
    parser.add_argument("--dask", metavar="ADDRESS", help="the scheduler: tcp://HOST:8786, or the name of a scheduler file")
    parser.add_argument("--chunk", type=_chunk, default=0, metavar="N", help="points of a task (default: eight tasks for each thread of the workers)")
    parser.add_argument("--weft", metavar="PROGRAM", default=os.environ.get("WEFT_PROGRAM") or "weft", help="the program, here and on the workers")
    parser.add_argument("--journal", metavar="FILE")
    parser.add_argument("--retry", action="store_true", help="run the points that failed again")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--plot-log", action="store_true")
    for option in TASK_OPTIONS + END_OPTIONS:
        parser.add_argument(option, action="append", default=[], metavar="VALUE", help=argparse.SUPPRESS)
    return parser.parse_args(texts)


def _given(arguments: argparse.Namespace, options: tuple[str, ...]) -> list[str]:
    """The options as they were given; folders and libraries with the paths that they have on workers, too."""
    texts = []
    for option in options:
        for value in getattr(arguments, option[2:].replace("-", "_")):
            library = option == "--library" and (os.sep in value or os.path.isfile(value))  # the system looks elsewhere for other names
            texts += [option, os.path.abspath(value) if library or option in FOLDERS else value]
    return texts


def _absolute(program: str) -> str:
    """The program with the path that it has on workers, too; what has no folder they look for."""
    return os.path.abspath(program) if os.sep in program else program


def _connect(address: str):
    try:
        from distributed import Client
    except ImportError:
        raise SweepError("Dask is missing: apt-get install python3-distributed, or pip install distributed") from None
    try:
        return Client(scheduler_file=address) if pathlib.Path(address).is_file() else Client(address)
    except (OSError, TimeoutError, ValueError) as error:
        raise SweepError(f"there is no scheduler of Dask at '{address}': {error}") from None


def main(texts: list[str] | None = None) -> int:
    arguments = _arguments(texts)
    flags = [flag for flag, given in (("--quiet", arguments.quiet), ("--plot-log", arguments.plot_log)) if given]
    journal = ["--journal", arguments.journal] if arguments.journal else []
    tasks, end = _given(arguments, TASK_OPTIONS), _given(arguments, END_OPTIONS)
    retry = ["--retry"] if arguments.retry else []
    program = _absolute(shutil.which(arguments.weft) or arguments.weft)
    try:
        if not arguments.dask:
            return subprocess.run([program, "sweep", arguments.grid, *journal, *retry, *tasks, *end, *flags]).returncode
        _say(program, arguments.grid, "--count")  # a wrong grid is told before a cluster is looked for
        with _connect(arguments.dask) as client:
            run(arguments.grid, client, program, arguments.chunk, tasks, journal, arguments.retry)
        # How it went, the table and the plot; the status is 1 where a point failed.
        return subprocess.run([program, "sweep", arguments.grid, *journal, *tasks, *end, *flags]).returncode
    except SweepError as error:
        print(f"weft.sweep: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"weft.sweep: error: '{program}' could not be run: {error.strerror} (--weft PROGRAM names it)", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("weft.sweep: interrupted; the same command continues", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
