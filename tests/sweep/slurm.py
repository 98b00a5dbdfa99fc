"""A cluster of Slurm on this machine alone, of Debian's slurm-wlm, as long as a test needs it."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time


class Missing(Exception):
    """Why there can be no cluster here."""


def _free_port():
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return each.getsockname()[1]


class Cluster:
    """munge's key and socket, the controller and one node, all in a folder of its own."""

    def __init__(self, folder):
        for program in ("munged", "slurmctld", "slurmd", "sbatch", "sinfo"):
            if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
                raise Missing(f"{program} is missing (Debian's slurm-wlm and munge)")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # (sockets have short names)
        self.processes, self.user = [], "root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")
        self.socket = self.folder / "munge.socket"
        self._write_config()
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        try:
            self._start("munged", "--foreground", f"--socket={self.socket}", f"--key-file={self.folder}/munge.key", f"--pid-file={self.folder}/munge.pid",
                        f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed", "--force")
            self._until(self.socket.exists, "munged does not start")
            self._start("slurmctld", "-D", "-i")
            self._start("slurmd", "-D", "-N", "node1")
            self._until(lambda: "idle" in self._say("sinfo", "-h", "-o", "%t"), "its node does not become idle")
        except Missing:
            self.close()
            raise

    def _write_config(self):
        # munged wants a key of its own, and folders that no other user writes to.
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        folders = {name: self.folder / name for name in ("state", "spool")}
        for each in folders.values():
            each.mkdir()
        (self.folder / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmUser={self.user}
SlurmdUser={self.user}
SlurmctldPort={_free_port()}
AuthType=auth/munge
AuthInfo=socket={self.socket}
CredType=cred/munge
StateSaveLocation={folders['state']}
SlurmdSpoolDir={folders['spool']}
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=node1 NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={_free_port()} CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes=node1 Default=YES MaxTime=INFINITE State=UP
""")

    def _start(self, *command):
        log = open(self.folder / f"{command[0]}.out", "wb")
        environment = {**os.environ, **self.environment, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True))

    def _say(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **self.environment}, timeout=60)
        return done.stdout

    def _until(self, what, failure, seconds=30):
        end = time.monotonic() + seconds
        while not what():
            dead = [process.args[0] for process in self.processes if process.poll() is not None]
            if dead or time.monotonic() > end:
                logs = "".join(path.read_text(errors="replace")[-600:] for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))
                raise Missing(f"Slurm does not start here: {dead or failure}: {logs}")
            time.sleep(0.2)

    def wait_idle(self, seconds):
        """Until no job waits or runs."""
        self._until(lambda: not self._say("squeue", "-h").strip(), "jobs do not end", seconds)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
