"""The entry point of scenario files."""
import asyncio
import signal
import sys
import traceback

from peers.radio import RADIOS


def scenario(steps):
    """Runs the steps on the radio that the command line names. Their argument is its address for --adapter."""
    async def run():
        async with RADIOS[sys.argv[1]]() as radio:
            await steps(radio)

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores SIGINT, and so would bletool
    try:
        asyncio.run(run())
    except Exception:
        traceback.print_exc(limit=-3)  # the frames of the scenario, without those of asyncio
        sys.exit(1)


def expect(found, wanted, what):
    """Fails with both values if `found` differs from `wanted`."""
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"
