"""Runs every reader over every sample and tells what came out; see the file `run` beside this one."""

import argparse
import pathlib
import sys

import junit
import others
from reader import Skip, Trouble

DOC = pathlib.Path("docs/consumers.md")
HEAD = """# Who reads what pacegate writes

Made by `scripts/consumers/run --write` from what each program made of the files in `tests/snapshots` (one for each way
in which a comparison ends, one with every attack string of `tests/data/escapers/attacks.json` in every place) and of a
verdict with 5,000 groups. `scripts/consumers/run` checks it again.

| output | reader | version | what is checked | files | result |
| --- | --- | --- | --- | --- | --- |
"""
TAIL = """
Not run here, for they can't be: GitHub, GitLab, Jenkins, Azure and Buildkite themselves. The rows named after them run
the parser that they use, or the schema that they validate with.
"""


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--home", type=pathlib.Path, required=True)
    arguments.add_argument("--huge", type=pathlib.Path, required=True)
    arguments.add_argument("--require", action="store_true")
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()

    rows, failed, skipped = [], 0, 0
    for reader in junit.readers(options) + others.readers(options):
        files = reader.files()
        try:
            version = reader.version()
            for file in files:
                reader.check(file)
            result = "ok"
        except Skip as why:
            version, result, skipped = "", f"SKIPPED: {why}", skipped + 1
        except Trouble as what:
            result, failed = f"FAILED: {what}", failed + 1
        except Exception as what:  # a reader that dies is a finding, not the end of the run
            result, failed = f"FAILED: {type(what).__name__}: {what}", failed + 1
        print(f"{reader.output:<12} {reader.name:<34} {len(files):>3} files  {result}", flush=True)
        rows.append((reader.output, reader.name, version, reader.what, str(len(files)), result))

    print(f"consumers: {len(rows) - failed - skipped} ok, {failed} failed, {skipped} SKIPPED")
    if options.write and not failed and not skipped:
        DOC.parent.mkdir(exist_ok=True)
        DOC.write_text(HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows) + TAIL, encoding="utf-8")
    elif options.write:
        print(f"consumers: {DOC} is not written: every reader must have run and passed for that", file=sys.stderr)
    return 1 if failed or (skipped and options.require) else 0


if __name__ == "__main__":
    sys.exit(main())
