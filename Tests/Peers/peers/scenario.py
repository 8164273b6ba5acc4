"""How a scenario file starts."""
import asyncio
import signal
import sys
import traceback

from peers.radio import RADIOS


def scenario(steps):
    """Runs the steps on the radio named on the command line; they get its address as --adapter takes it."""
    async def run():
        async with RADIOS[sys.argv[1]]() as radio:
            await steps(radio)

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it, and bletool would too
    try:
        asyncio.run(run())
    except Exception:
        traceback.print_exc(limit=-3)  # the scenario's own frames; those before are asyncio's
        sys.exit(1)


def expect(found, wanted, what):
    """Fails, saying both, when the found is not the wanted."""
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"
