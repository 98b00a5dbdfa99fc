"""The launchers of MPI: how each starts ranks, what is built against it, and how programs in C are compiled for it."""
import dataclasses
import os
import shutil


@dataclasses.dataclass
class Launcher:
    title: str
    program: str
    library: str  # of messages, beside the program in ../lib
    compiler: str
    options: tuple = ()      # as root
    crowded: tuple = ()      # more ranks than cores
    tcp: tuple = ()          # no shared memory between ranks of one machine, and no network but the loopback

    def words(self, *options):
        return [self.program, *self.options, *options]


# (Bound to a core, as Open MPI has it for two ranks, a rank's thread of messages could not use a core that is idle.)
LAUNCHERS = {
    "openmpi": Launcher("Open MPI", "mpirun.openmpi", "libweft_mpi.so", "mpicc.openmpi", ("--allow-run-as-root", "--bind-to", "none"), ("--oversubscribe",),
                        ("--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo")),
    "mpich": Launcher("MPICH", "mpirun.mpich", "libweft_mpi_mpich.so", "mpicc.mpich"),
}


def installed(weft):
    """The launchers that there are, with a library for each beside this program."""
    return [name for name, launcher in LAUNCHERS.items() if shutil.which(launcher.program) and (weft.parent.parent / "lib" / launcher.library).exists()]


def settings(crowded):
    """The environment of a job. Where ranks share cores, one that waits for its turn must not hold a core."""
    quiet = {**os.environ, "OMPI_MCA_btl_base_warn_component_unused": "0"}
    return {**quiet, "OMPI_MCA_mpi_yield_when_idle": "1"} if crowded else quiet
