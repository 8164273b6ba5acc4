"""A program of Examples as a process: its lines and its end."""
import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from pathlib import Path

from peers.bletool import soon


class Example:
    """A run of an example. Each line is taken once, in order. Lines before the expected one are skipped."""

    def __init__(self, process):
        self.process = process

    async def line(self, pattern):
        """Returns the match of the next line that matches this pattern."""
        async def read():
            async for line in self.process.stdout:
                print(f"< {line.decode().rstrip()}", flush=True)
                if match := re.search(pattern, line.decode()):
                    return match
            raise AssertionError(f"the example ended without a line that matches {pattern}")

        return await soon(read(), f"a line that matches {pattern}")

    async def stop(self, number=signal.SIGINT):
        """Sends a signal, waits for the end and returns the exit code, negative for a signal."""
        self.process.send_signal(number)
        await soon(self.process.stdout.read(), "the end of the output")
        return await soon(self.process.wait(), "the end of the example")


@asynccontextmanager
async def example(name, *words):
    """Starts an example that was built beside bletool, and kills it at the end of the block."""
    print("$", name, *words, flush=True)
    path = Path(os.environ["BLETOOL"]).with_name(name)
    assert os.access(path, os.X_OK), f"no example at {path}; build the whole package"
    process = await asyncio.create_subprocess_exec(
        path, *map(str, words), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        yield Example(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
