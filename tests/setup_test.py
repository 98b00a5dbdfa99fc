#!/usr/bin/env python3
"""Which of the packages that it is asked for tools/setup.sh installs. Last line: setup: N tests, M failed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = "Package: {}\nStatus: {}\nArchitecture: {}\nVersion: 1\nMaintainer: nobody\nDescription: none\n"


@unittest.skipUnless(shutil.which("dpkg-query"), "a system without dpkg")
class InstallMissingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.native = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
        self.foreign = "amd64" if self.native == "arm64" else "arm64"
        self.calls = self.folder / "calls"
        # In place of those of the system: one writes down what it is asked for, the other stands for a user who may do all.
        self.program("apt-get", f'echo "$@" >> {self.calls}')
        self.program("sudo", '"$@"')

    def program(self, name, line):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def install(self, known, asked):
        """The arguments of apt-get's calls, where `known` (package, status, architecture) is what dpkg knows of."""
        database = self.folder / "dpkg"
        (database / "info").mkdir(parents=True)
        (database / "updates").mkdir()
        (database / "info/format").write_text("1\n")
        (database / "arch").write_text(f"{self.native}\n{self.foreign}\n")
        (database / "status").write_text("".join(PACKAGE.format(*of) + ("" if of[2] == "all" else "Multi-Arch: same\n") + "\n" for of in known))
        environment = os.environ | {"DPKG_ADMINDIR": str(database), "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-c", 'source tools/setup.sh; install_missing "$@"', "bash", *asked], cwd=ROOT, env=environment, check=True,
                       capture_output=True, timeout=60)
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_what_is_there_for_this_machine_or_for_any_is_not_installed(self):
        there = "install ok installed"
        known = [("native", there, self.native), ("any", there, "all"), ("both", there, self.native), ("both", there, self.foreign)]
        self.assertEqual(self.install(known, ["native", "any", "both"]), [])

    def test_what_another_architecture_has_is_installed(self):
        known = [("other", "install ok installed", self.foreign), ("removed", "deinstall ok config-files", self.native),
                 ("native", "install ok installed", self.native)]
        update, install = self.install(known, ["native", "other", "removed", "unknown"])
        self.assertEqual(update, "update")
        self.assertEqual(install, "install -y --no-install-recommends other removed unknown")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"setup: {result.testsRun} tests, {failed} failed")
    sys.exit(failed > 0)
