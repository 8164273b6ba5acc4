"""Starts scripts with Bumble, for `run` and `record`."""
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PROJECT = HERE.parent.parent
PYTHON = PROJECT / ".build-peers/bin/python"
DEADLINE = 90  # seconds for one script


def environment():
    """Installs Bumble and returns the environment of scripts. BLETOOL names the binary under test."""
    subprocess.run([HERE / "install"], check=True)
    others = {name: value for name, value in os.environ.items() if not name.startswith("BLETOOL")}
    return others | {"BLETOOL": str(bletool()), "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}


def bletool():
    candidates = [PROJECT / ".build/release/bletool", PROJECT / ".build/debug/bletool"]
    if "BLETOOL" in os.environ:
        candidates = [Path(os.environ["BLETOOL"])]
    for path in candidates:
        if os.access(path, os.X_OK):
            return path.resolve()
    sys.exit(f"no bletool at {' or '.join(map(str, candidates))}; build it first")


def play(script, radio, folder, environment):
    """Runs a script on a radio, in a process group of its own that is killed at the end. The script writes its files to the
    folder. Returns whether it succeeded, and its output."""
    process = subprocess.Popen(
        [PYTHON, HERE / script, radio], cwd=folder, start_new_session=True,
        env=environment | {"HOME": folder, "XDG_RUNTIME_DIR": folder, "BLETOOL_AIR": f"{folder}/air"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=DEADLINE)
        return process.returncode == 0, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return False, process.communicate()[0] + f"killed after {DEADLINE} s\n"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
