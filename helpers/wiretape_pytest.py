"""For pytest: keeps the tape of a test that fails, and plays cassettes.

In conftest.py: pytest_plugins = ["wiretape_pytest"]

A test asks for the fixture `wiretape`:

    def test_price(wiretape):
        command = wiretape.server(["python", "server.py"])    # start this in the place of the server

A test that fails keeps its tapes in test-results/wiretape, each with a report as a page. Cassettes are in __cassettes__
beside the test's file:

    command = wiretape.cassette("shop", ["python", "server.py"])

WIRETAPE_MODE says how cassettes are used: none never asks the server, once (the default) asks it while there is no
cassette, new asks it what the cassette does not have, all asks it everything. In CI (CI is set) none is recorded.
WIRETAPE is the command that starts wiretape, where it is not on the PATH.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

MODES = ("none", "once", "new", "all")
LONGEST_WAIT_S = 5


class WiretapeError(Exception):
    """The request cannot be met; the message gives the reason."""


class TestTapes:
    """Tapes of one test: made while it runs, kept only when it fails."""

    __test__ = False

    def __init__(self, results, cassettes, mode, read_only):
        self.results = Path(results)
        self.cassettes = Path(cassettes)
        self.mode = _checked(mode)
        self.read_only = read_only
        self._recorded = []
        shutil.rmtree(self.results, ignore_errors=True)

    def server(self, command):
        """The command that starts the server behind a recorder, as a list of str."""
        return self._record(_words(command))

    def cassette(self, name, command, mode=None):
        """The command that starts the server as its cassette has it, or the server itself while the cassette is made.

        The cassette is written when the test has passed. Raises WiretapeError where the server would be recorded but
        must not.
        """
        command = _words(command)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise WiretapeError(f"{name!r} is not a valid cassette name: use letters, digits, - and _")
        mode = _checked(mode or self.mode)
        if mode == "new" and self.read_only:
            mode = "none"
        file = self.cassettes / f"{name}.jsonl"
        if mode == "all" or not file.exists():
            self._check_recording(mode, file)
            return self._record(command, becomes=file)
        mock = [*_program(), "mock", "--quiet", str(file)]
        if mode != "new":
            return self._record(mock)
        folder = self._folder()
        copy = folder / "copy" / file.name
        copy.parent.mkdir()
        fallback = ["--fallback", "--record", "new", "--out", str(copy), "--", *command]
        return self._record(mock + fallback, folder=folder, copy=(copy, file))

    def finish(self, has_failed):
        """Writes the cassettes of a test that passed, or keeps the tapes of one that failed. Returns the paths of kept tapes."""
        recorded, self._recorded = self._recorded, []
        if has_failed:
            return [path for folder, _, _ in recorded for path in _reports(folder)]
        try:
            for folder, becomes, copy in recorded:
                tape = _closed_tape(folder, LONGEST_WAIT_S)
                if becomes is not None:
                    if tape is None:
                        raise WiretapeError(f"cassette {becomes} is not written: close the client before the test ends")
                    becomes.parent.mkdir(parents=True, exist_ok=True)
                    beside = becomes.with_suffix(".new")
                    shutil.copyfile(tape, beside)
                    beside.replace(becomes)
                if copy is not None and copy[0].exists():
                    shutil.move(copy[0], copy[1])
        finally:
            shutil.rmtree(self.results, ignore_errors=True)
            try:
                self.results.parent.rmdir()
            except OSError:
                pass  # it has the results of other tests
        return []

    def _check_recording(self, mode, file):
        if self.read_only:
            raise WiretapeError(
                f"cassette {file} would be recorded, which is not allowed in CI "
                "(run the test on your own machine and commit the cassette)"
            )
        if mode == "none":
            raise WiretapeError(
                f"cassette {file} does not exist, and mode none does not record (run the test once with mode once)"
            )

    def _folder(self):
        self.results.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{len(self._recorded) + 1}-", dir=self.results))

    def _record(self, command, folder=None, becomes=None, copy=None):
        folder = folder or self._folder()
        self._recorded.append((folder, becomes, copy))
        return [*_program(), "record", "--quiet", "--out", str(folder), "--", *command]


def _program():
    return shlex.split(os.environ.get("WIRETAPE", "wiretape"))


def _words(command):
    if isinstance(command, str) or not command or not all(isinstance(word, str) for word in command):
        raise WiretapeError('the command of a server must be a list of str, such as ["python", "server.py"]')
    return list(command)


def _checked(mode):
    if mode not in MODES:
        raise WiretapeError(f"{mode!r} is not a cassette mode: use {', '.join(MODES)}")
    return mode


def _closed_tape(folder, wait_s):
    """The tape of a folder when its last line is there, else None after wait_s seconds."""
    deadline = time.monotonic() + wait_s
    while True:
        for tape in folder.glob("*.jsonl"):
            with tape.open("rb") as file:
                file.seek(max(0, tape.stat().st_size - 4096))
                last = file.read().splitlines()[-1:]
            if last and b'"type":"end"' in last[0][:200]:
                return tape
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)


def _reports(folder):
    """The tapes of a folder, each with a report beside it."""
    _closed_tape(folder, LONGEST_WAIT_S / 5)
    kept = []
    for tape in sorted(folder.glob("*.jsonl")):
        report = tape.with_suffix(".html")
        made = subprocess.run([*_program(), "convert", str(tape), str(report)], capture_output=True, check=False)
        kept += [report, tape] if made.returncode == 0 else [tape]
    return kept


def _is_set(name):
    return os.environ.get(name, "") not in ("", "0", "false")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if outcome.get_result().failed:
        item.wiretape_failed = True


@pytest.fixture
def wiretape(request):
    node = request.node
    digest = hashlib.sha256(node.nodeid.encode()).hexdigest()[:6]
    name = re.sub(r"\W+", "-", f"{node.path.stem}-{node.name}")[:60]
    tapes = TestTapes(
        results=Path.cwd() / "test-results" / "wiretape" / f"{name}-{digest}",
        cassettes=node.path.parent / "__cassettes__",
        mode=os.environ.get("WIRETAPE_MODE") or "once",
        read_only=_is_set("CI"),
    )
    node.wiretape_failed = False
    yield tapes
    kept = tapes.finish(node.wiretape_failed)
    if kept:
        lines = "".join(f"  {path}\n" for path in kept)
        sys.stderr.write(f"\n{node.name} failed; wiretape kept\n{lines}")
