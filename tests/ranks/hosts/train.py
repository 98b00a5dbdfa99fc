"""A host in Python that trains a page on the processes of a launcher of MPI, as train.c does.

    mpirun -n 2 python3 train.py PAGE SHARDS STEPS DEADLINE_MS OUT VARIABLES [OUTPUT FILE ROWS COLUMNS]...
"""
import pathlib
import sys

import numpy as np
import weft


def main() -> int:
    page_name, shards, steps, deadline, out, variables, *fed = sys.argv[1:]
    feeds = {name: np.fromfile(file, np.float32).reshape(int(rows), int(columns))
             for name, file, rows, columns in zip(*[iter(fed)] * 4)}
    with weft.Runtime(messages="auto", job_deadline=int(deadline) / 1000) as runtime:
        with runtime.load(page_name.replace("@", str(runtime.rank))) as page:
            try:
                run = page.sharded(shards=int(shards), settings=steps)
            except weft.Error as error:  # on all ranks alike: one speaks for all
                if runtime.rank == 0:
                    print(error, file=sys.stderr)
                return 1
            with run:
                run.run(int(steps), feeds=feeds)
                folder = pathlib.Path(out.replace("@", str(runtime.rank)))
                for name, value in run.results().items():
                    value.tofile(folder / name)
                for name in variables.split(","):
                    page.variable(name).tofile(folder / name)
                sys.stdout.write(f"rank {runtime.rank} of {runtime.ranks}, by {runtime.message_library}\n")  # in one piece: ranks share it
    return 0


if __name__ == "__main__":
    sys.exit(main())
