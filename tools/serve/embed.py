#!/usr/bin/env python3
"""Writes a C++ file that has files in it, compressed: embed.py OUT.cc FOLDER NAME=FILE|NAME=@FOLDER ...

NAME is what the program calls the file; of a folder, all files in it and below get NAME/path. FOLDER is for the compressed files."""
import gzip
import hashlib
import os
import sys


def files_of(argument):
    name, _, source = argument.partition("=")
    if not source.startswith("@"):
        yield name, source
        return
    root = source[1:]
    for folder, _, files in os.walk(root):
        for file in files:
            path = os.path.join(folder, file)
            if not file.endswith(".map"):
                yield name + "/" + os.path.relpath(path, root).replace(os.sep, "/"), path


def main():
    out, folder, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    entries = sorted(entry for argument in arguments for entry in files_of(argument))
    code = ["// Made by embed.py.", '#include "tools/serve/assets.h"', ""]
    table = []
    for number, (name, path) in enumerate(entries):
        with open(path, "rb") as file:
            data = file.read()
        packed = gzip.compress(data, 9, mtime=0)
        smaller = len(packed) < len(data)
        target = os.path.join(os.path.abspath(folder), f"{number}.bin")
        with open(target, "wb") as file:
            file.write(packed if smaller else data)
        size = len(packed if smaller else data)
        digest = hashlib.sha256(data).hexdigest()[:16]
        code.append(f'asm(".section .rodata\\n.balign 16\\nweft_asset_{number}:\\n.incbin \\"{target}\\"\\n.byte 0\\n.previous\\n");')
        code.append(f'extern "C" __attribute__((visibility("hidden"))) const unsigned char weft_asset_{number}[];')
        table.append(f'    {{"{name}", "{digest}", weft_asset_{number}, {size}, {"true" if smaller else "false"}}},')
    code += ["", "namespace weft::serve {", "", "const Asset kAssets[] = {", *table, "};", f"const size_t kAssetCount = {len(entries)};", "",
             "}  // namespace weft::serve", ""]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(code))


if __name__ == "__main__":
    main()
