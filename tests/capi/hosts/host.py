"""A host in Python: runs pages through the package `weft` and reads results as numpy arrays without a copy.

Usage: host.py [--write FOLDER] PAGE...    prints for each page a digest of all its results after five runs of each of its sessions, as
host.c does. Pages may write into the folder.
"""
import sys

import numpy as np
import weft

ROUNDS = 5


def add(digest: int, data: bytes) -> int:
    """FNV-1a, of 64 bits."""
    for byte in data:
        digest = (digest ^ byte) * 1099511628211 % 2**64
    return digest


def add_view(digest: int, name: str, view: weft.View) -> int:
    digest = add(digest, name.encode() + b"\0" + view.dtype.encode() + b"\0" + np.array(view.shape, np.int64).tobytes())
    if view.dtype == "DT_STRING":
        for element in view.numpy().ravel():
            digest = add(digest, element)
    elif view.address:
        array = np.asarray(view)
        if array.ctypes.data != view.address or array.flags.writeable:
            raise SystemExit(f"{name} was copied")
        digest = add(digest, array.tobytes())
    return digest


def main() -> None:
    paths, write = sys.argv[1:], []
    if paths[:1] == ["--write"]:
        write, paths = paths[1:2], paths[2:]
    with weft.Runtime(threads=2) as runtime:
        for path in paths:
            with runtime.load(path, write=write) as page:
                sessions = [page.session(name) for name in page.sessions or [None]]
                for _ in range(ROUNDS):
                    for session in sessions:
                        session.run()
                digest = 14695981039346656037
                for session in sessions:
                    results = session.results(sorted(session.names()))
                    for name in sorted([*results, *results.handles]):
                        digest = add_view(digest, name, results.view(name))
                print(f"{path} {digest:016x}")


if __name__ == "__main__":
    main()
