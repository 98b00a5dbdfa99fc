"""Starts `weft run --shards` on the processes of a launcher of MPI, and reads what came of it."""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/ranks"))
import launchers  # noqa: E402

WEFT = pathlib.Path(os.environ.get("WEFT_PROGRAM", ROOT / "build/release/bin/weft"))
# By name: the launcher, with its options for more ranks than cores.
LAUNCHERS = {name: launcher.words(*launcher.crowded) for name, launcher in launchers.LAUNCHERS.items()}


def installed():
    """The launchers that there are, with a library for each."""
    return launchers.installed(WEFT)


def command(ranks, arguments, launcher, options=()):
    """Without ranks: one process alone."""
    run = [str(WEFT), "run", *map(str, arguments)]
    return run if launcher is None else [*LAUNCHERS[launcher], *options, "-n", str(ranks), *run]


def environment():
    return launchers.settings(crowded=True)


def run(ranks, arguments, launcher, timeout=120, options=()):
    return subprocess.run(command(ranks, arguments, launcher, options), capture_output=True, text=True, timeout=timeout, env=environment())


def start(ranks, arguments, launcher, options=()):
    return subprocess.Popen(command(ranks, arguments, launcher, options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(),
                            start_new_session=True)


def results(ranks, arguments, launcher=None, timeout=120, options=()):
    """All results and variables of a run, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "results.npz")
        done = run(ranks, [*arguments, "--results", path, "--quiet"], launcher, timeout, options)
        if done.returncode != 0:
            raise AssertionError(f"{ranks} ranks of {launcher}: status {done.returncode}\n{done.stdout}{done.stderr}")
        with np.load(path) as file:
            return {name: file[name] for name in file.files}


def differences(a, b):
    """The names whose bits are not the same."""
    return sorted({*a} ^ {*b}) + [name for name in a if name in b and a[name].tobytes() != b[name].tobytes()]


def ranks_of(process, program=WEFT):
    """The processes of a program that a launcher has started, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.realpath(folder / "exe") != os.path.realpath(program) or os.getsid(int(folder.name)) != os.getsid(process.pid) and not descends(int(folder.name), process.pid):
                continue
            variables = dict(line.split("=", 1) for line in (folder / "environ").read_bytes().decode("utf-8", "replace").split("\0") if "=" in line)
        except (OSError, ProcessLookupError):
            continue
        rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
        if rank is not None:
            found[int(rank)] = int(folder.name)
    return found


def descends(process, ancestor):
    while process > 1:
        if process == ancestor:
            return True
        try:
            process = int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def status(process):
    """What /proc tells of a process or thread, from its state on; None where it is gone."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def processor_time(process):
    """In seconds; 0 where it is gone."""
    fields = status(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0


def cost(run_it):
    """What the processes of a call that waits for them take of processors, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_it()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wait_for_steps(ranks, whole):
    """Until a job is at its steps: each rank has taken more of processors than a job of one step in all, which is `whole` seconds."""
    wait_for(lambda: all(processor_time(rank) > whole for rank in ranks.values()), 60)


def stop(process):
    """SIGSTOP, until no thread does anything any more: a call to the kernel that is on its way comes to its end first."""
    os.kill(process, signal.SIGSTOP)
    wait_for(lambda: all((status(f"{process}/task/{thread}") or "T")[0] == "T" for thread in os.listdir(f"/proc/{process}/task")))


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("waited in vain")
