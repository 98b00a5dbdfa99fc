#!/usr/bin/env python3
"""Files that other programs made, read by blocks of `weft run`, and files that Weft made, read by other programs. Needs a build
(build/release, $WEFT_BUILD, or the program $WEFT_PROGRAM); works offline. Tests whose program is not installed are skipped and say so; those
of TensorFlow need WEFT_TENSORFLOW, a Python that has it. Arguments: names of tests, as unittest takes them. Last line: real_files: N tests,
M failed."""
import sys

import folder_tests

if __name__ == "__main__":
    sys.exit(folder_tests.main("real_files", sys.argv[1:]))
