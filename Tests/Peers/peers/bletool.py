"""bletool as a process: its events, its messages and its end."""
import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager

PATIENCE = 10  # seconds within which an expected event must occur


async def soon(awaitable, what, seconds=PATIENCE):
    """Returns the result of an awaitable. Fails with `what` if it takes too long."""
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except TimeoutError:
        raise AssertionError(f"{what}: not within {seconds} s") from None


class Bletool:
    """A run of bletool with --json. Each event can be taken once, in any order."""

    def __init__(self, process):
        self.process = process
        self.messages = ""
        self._untaken = []
        self._news = asyncio.Event()
        self._readers = asyncio.gather(self._read_events(), self._read_messages())

    async def _read_events(self):
        async for line in self.process.stdout:
            print(f"< {line.decode().rstrip()}", flush=True)
            self._untaken.append(json.loads(line))
            self._news.set()
        self._news.set()

    async def _read_messages(self):
        async for line in self.process.stderr:
            print(f"! {line.decode().rstrip()}", flush=True)
            self.messages += line.decode()

    def take(self, kind, **fields):
        """Takes the first event with this kind and these fields that is printed and not yet taken, or returns None."""
        for event in self._untaken:
            if event.get("event") == kind and fields.items() <= event.items():
                self._untaken.remove(event)
                return event
        return None

    async def event(self, kind, **fields):
        """Takes the first event with this kind and these fields, and waits until it is printed."""
        while (event := self.take(kind, **fields)) is None:
            assert not self.process.stdout.at_eof(), f"bletool ended without the event {kind} {fields}"
            self._news.clear()
            await soon(self._news.wait(), f"event {kind} {fields}")
        return event

    async def end(self, seconds=PATIENCE):
        """Waits for the end. Returns the exit code, negative for a signal, and the events that are not yet taken."""
        await soon(self._readers, "the end of bletool", seconds)
        return await self.process.wait(), self._untaken

    def expect_error(self, events):
        """Checks that a failure is reported as a line on standard error and as the last event."""
        assert self.messages.startswith("bletool: "), f"no message on standard error: {self.messages!r}"
        assert events and events[-1]["event"] == "error", f"the last event is not an error: {events}"

    async def stop(self, number=signal.SIGTERM):
        """Sends a signal, waits for the end and returns the exit code."""
        self.process.send_signal(number)
        return (await self.end())[0]


@asynccontextmanager
async def running(*words, stdin=asyncio.subprocess.DEVNULL):
    """Starts bletool. Stops it at the end of the block, or kills it if the block fails."""
    print("$ bletool", *words, flush=True)
    process = await asyncio.create_subprocess_exec(
        os.environ["BLETOOL"], *map(str, words), "--json", limit=1 << 20,
        stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    run = Bletool(process)
    try:
        yield run
        if process.returncode is None:
            await run.stop()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def bletool(*words, code=0):
    """Runs bletool to its end, checks its exit code, and returns its events."""
    async with running(*words) as run:
        ended, events = await run.end()
        assert ended == code, f"exit code {ended} instead of {code}"
        if code:
            run.expect_error(events)
        return events
