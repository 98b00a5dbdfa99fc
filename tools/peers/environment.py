"""The peers: what they are, their virtual environments (made once, outside the repository), how each is held to a level of processors; and the machine."""
import dataclasses
import os
import pathlib
import subprocess
import sys

PACKAGES = {"tensorflow": ["tensorflow-cpu==2.21.0", "numpy"], "torch": ["torch==2.13.0", "numpy"]}


@dataclasses.dataclass
class Peer:
    packages: str  # the environment it runs in, one of PACKAGES
    kernels: str | None  # the programs beside this file that time it
    pages: str | None
    settings: dict = dataclasses.field(default_factory=dict)  # of its environment


# By the first word of the `peer` in its lines.
PEERS = {
    "tensorflow": Peer("tensorflow", "tensorflow_kernels.py", "tensorflow_pages.py"),
    "torch": Peer("torch", "torch_kernels.py", None),
    "tensorflow-xla": Peer("tensorflow", None, "tensorflow_pages.py", {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"}),
    "torch-compile": Peer("torch", None, "torch_pages.py"),
}


@dataclasses.dataclass
class Level:
    """A level of x86-64 processors, in the words of each library that chooses its code by the processor."""
    name: str
    onednn: str
    aten: str
    mkl: str
    xla: str
    simdlen: int  # bits of a vector in what PyTorch compiles; 1: no vectors

    def settings(self):
        return {"ONEDNN_MAX_CPU_ISA": self.onednn, "ATEN_CPU_CAPABILITY": self.aten, "MKL_ENABLE_INSTRUCTIONS": self.mkl,
                "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={self.xla}".strip(),
                "TORCHINDUCTOR_CPP_MARCH": self.name, "WEFT_PEER_SIMDLEN": str(self.simdlen)}


LEVELS = {
    "v2": Level("x86-64-v2", "SSE41", "default", "SSE4_2", "SSE4_2", 1),
    "v3": Level("x86-64-v3", "AVX2", "avx2", "AVX2", "AVX2", 256),
    "v4": Level("x86-64-v4", "AVX512_CORE", "avx512", "AVX512", "AVX512", 512),
}


def settings_of(peer, level=None):
    """The environment of a peer's programs, besides what is there."""
    return {**PEERS[peer].settings, **(LEVELS[level].settings() if level else {})}


def machine():
    """The processor's name and number of cores."""
    name = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "an unknown processor")
    return f"{name}, {os.cpu_count()} cores"


def default_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "weft" / "peers"


def python_of(folder):
    return pathlib.Path(folder) / "bin" / "python"


def prepare(name, folder=None, pip_arguments=()):
    """The Python that has these PACKAGES: of `folder` where one is given, else of an environment that is made here the first time."""
    if folder is not None:
        python = python_of(folder)
        if not python.exists():
            raise SystemExit(f"bench_peers: there is no Python environment in '{folder}'")
        return python
    home = default_folder() / name
    complete = home / "complete"  # written last: an environment without it, or with other packages in it, is made again
    packages = "\n".join(PACKAGES[name])
    if not complete.exists() or complete.read_text() != packages:
        print(f"Making {home} (once)", file=sys.stderr)
        steps = ([sys.executable, "-m", "venv", "--clear", home], [python_of(home), "-m", "pip", "install", "--quiet", *pip_arguments, *PACKAGES[name]])
        for step in steps:
            if subprocess.run(step, stdout=sys.stderr).returncode != 0:
                raise SystemExit(f"bench_peers: {name} could not be installed; --peers leaves it out, --{name}-env names an environment that has it")
        complete.write_text(packages)
    return python_of(home)
