"""schemathesis against the description of the interface. Skipped where it is not installed (pip install schemathesis, in an environment of its own)."""
import os
import shutil
import subprocess
import unittest

from client import PATIENCE
from kit import ServerTest

TOOL = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis")


class SchemaFuzz(ServerTest):
    options = ("--page-memory", "300M", "--memory", "1G")

    @unittest.skipUnless(TOOL, "schemathesis is not installed")
    def test_answers_are_as_described(self):
        self.open()
        address = f"http://{self.server.host}:{self.server.port}"
        done = subprocess.run([TOOL, "run", address + "/v1/openapi.json", "--url", address, "-H", "Authorization: Bearer " + self.server.token, "--max-examples", "8",
                               "--phases", "examples,coverage,fuzzing", "--exclude-checks", "positive_data_acceptance", "--workers", "2"],
                              capture_output=True, text=True, timeout=240 * PATIENCE, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])


if __name__ == "__main__":
    unittest.main()
