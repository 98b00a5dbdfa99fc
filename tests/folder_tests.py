"""Runs the tests of a folder, NAME_test.py each, for the programs beside this one."""
import pathlib
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent


def main(folder, chosen):
    """`chosen`: names of tests, as unittest takes them; all where there are none. Says why tests were skipped; the last line is that which
    tools/test counts: FOLDER: N tests, M failed."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(TESTS / folder))
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(chosen) if chosen else loader.discover(str(TESTS / folder), pattern="*_test.py")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"{folder}: {max(result.testsRun, failed)} tests, {failed} failed")
    return 1 if failed else 0
