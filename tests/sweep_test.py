#!/usr/bin/env python3
"""Tests of `weft sweep` from outside: processes that are killed and go on, Dask, the recipes of docs/scale.md. Needs a build (build/release, or
$WEFT_PROGRAM); works offline. Arguments: names of tests, as unittest takes them; --scale: also those that take minutes or start a scheduler.
Last line: sweep: N tests, M failed."""
import os
import pathlib
import sys
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "sweep"
sys.path.insert(0, str(FOLDER))


class TimedResult(unittest.TextTestResult):
    """Tells what a test took where that is long."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        seconds = time.monotonic() - self.began
        if seconds > 3:
            self.stream.writeln(f" {test.id()}: {seconds:.1f} s")
        super().stopTest(test)


def main():
    names = [name for name in sys.argv[1:] if name != "--scale"]
    if "--scale" in sys.argv:
        os.environ["WEFT_SCALE"] = "1"
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(FOLDER), pattern="*_test.py")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1, resultclass=TimedResult).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"sweep: {max(result.testsRun, failed) - len(result.skipped)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
