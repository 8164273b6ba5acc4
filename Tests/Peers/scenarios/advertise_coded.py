"""Only scans on LE Coded receive advertising on that PHY."""
from peers.bletool import bletool, running
from peers.scenario import expect, scenario

FIELDS = ("name", "primaryPhy", "secondaryPhy", "legacy")


async def steps(radio):
    for secondary in ("coded", "2m"):
        options = ("--name", "Far", "--type", "nonconnectable", "--primary-phy", "coded", "--secondary-phy", secondary)
        async with running("advertise", "--adapter", radio, *options) as advertising:
            await advertising.event("ready")
            scan = ("scan", "--adapter", radio, "--name", "Far", "--count", 1)
            for phys in ("coded", "1m,coded"):
                [received] = await bletool(*scan, "--phy", phys, "--timeout", "8s")
                expect([received[field] for field in FIELDS], ["Far", "coded", secondary, False], "the packet")
            await bletool(*scan, "--timeout", "1s", code=2)


scenario(steps)
