"""The peers' virtual environments: made once, outside the repository."""
import os
import pathlib
import subprocess
import sys

PACKAGES = {"tensorflow": ["tensorflow-cpu==2.21.0", "numpy"], "torch": ["torch==2.13.0", "numpy"]}


def default_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "weft" / "peers"


def python_of(folder):
    return pathlib.Path(folder) / "bin" / "python"


def prepare(peer, folder=None, pip_arguments=()):
    """The Python that has the peer: of `folder` where one is given, else of an environment that is made here the first time."""
    if folder is not None:
        python = python_of(folder)
        if not python.exists():
            raise SystemExit(f"bench_peers: there is no Python environment in '{folder}'")
        return python
    home = default_folder() / peer
    complete = home / "complete"  # written last: an environment without it, or with other packages in it, is made again
    packages = "\n".join(PACKAGES[peer])
    if not complete.exists() or complete.read_text() != packages:
        print(f"Making {home} (once)", file=sys.stderr)
        steps = ([sys.executable, "-m", "venv", "--clear", home], [python_of(home), "-m", "pip", "install", "--quiet", *pip_arguments, *PACKAGES[peer]])
        for step in steps:
            if subprocess.run(step, stdout=sys.stderr).returncode != 0:
                raise SystemExit(f"bench_peers: {peer} could not be installed; --peers leaves it out, --{peer}-env names an environment that has it")
        complete.write_text(packages)
    return python_of(home)
