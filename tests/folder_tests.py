"""Runs the tests of a folder, NAME_test.py each, for the programs beside this one."""
import pathlib
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent


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


def main(folder, chosen):
    """`chosen`: names of tests, as unittest takes them; all where there are none. Says why tests were skipped; the last line is that which
    tools/test counts: FOLDER: N tests, M failed."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(TESTS / folder))
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(chosen) if chosen else loader.discover(str(TESTS / folder), pattern="*_test.py")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1, resultclass=TimedResult).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"{folder}: {max(result.testsRun, failed) - len(result.skipped)} tests, {failed} failed")
    return 1 if failed else 0
