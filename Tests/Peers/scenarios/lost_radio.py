"""`bletool serve` and `bletool scan` end with 3 and a message when their radio is killed."""
from peers.bletool import running
from peers.scenario import expect, scenario
from peers.thermometer import serving

UNUSABLE = 3


async def steps(_):
    async with running("air", "--listen", "tcp:127.0.0.1:0") as air:
        radio = (await air.event("ready"))["listening"][0]
        async with serving(radio) as (server, _), running("scan", "--adapter", radio) as scan:
            await scan.event("advertisement")
            air.process.kill()
            for run in (server, scan):
                code, events = await run.end()
                expect(code, UNUSABLE, "the exit code")
                run.expect_error(events)


scenario(steps)
