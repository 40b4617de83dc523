"""What all readers have in common."""

import pathlib
import shutil
import subprocess

SNAPSHOTS = pathlib.Path("tests/snapshots")


class Skip(Exception):
    """The reader is not here."""


class Trouble(Exception):
    """The reader is here and did not get what it should."""


def expect(holds, what):
    if not holds:
        raise Trouble(what)


def run(command, *, seconds=300, **options):
    """Stdout and stderr of a command that must end with 0."""
    try:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run([str(part) for part in command], timeout=seconds, check=False, **pipes)
    except FileNotFoundError as missing:
        raise Skip(f"{missing.filename} is not installed") from missing
    said = ((done.stdout or b"") + done.stderr).decode("utf-8", "replace")
    expect(done.returncode == 0, f"{command[0]} ended with {done.returncode}: {said.strip()[-300:]!r}")
    return said


def find(program, *places):
    """A program by name, in the given folders first."""
    for place in places:
        if (place / program).exists():
            return place / program
    found = shutil.which(program)
    if found is None:
        raise Skip(f"{program} is not installed")
    return pathlib.Path(found)


class Reader:
    """One program that reads one kind of output."""

    output = name = what = ""
    folder = pattern = huge = ""

    def __init__(self, options):
        self.home = options.home
        self.big = options.huge

    def files(self):
        return sorted((SNAPSHOTS / self.folder).glob(self.pattern)) + [self.big / self.huge]

    def work(self, file, ending):
        """A place for what the reader writes about a file."""
        folder = self.home / "out"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{file.stem}.{type(self).__name__}.{ending}"
