"""One bletool advertises 479 octets in extended packets, and in a scannable set's response. Another one reassembles them."""
from peers.bletool import bletool, running
from peers.scenario import expect, scenario

WORDS = [f"{n:02x}" * 230 for n in range(2)]
DATA = "".join("e9ffffff" + word for word in WORDS) + "0a09" + b"Long wave".hex()


async def steps(radio):
    data = [word for hex in WORDS for word in ("--manufacturer", f"0xffff:{hex}")]
    for kind in ("nonconnectable", "scannable"):
        options = ("--name", "Long wave", "--type", kind, "--extended", "--sid", 5)
        async with running("advertise", "--adapter", radio, *options, *data) as advertising:
            ready = await advertising.event("ready")
            expect(ready["advertising"]["extended"], DATA, "what is advertised")
            [received] = await bletool(
                "scan", "--adapter", radio, "--name", "Long wave", "--count", 1, "--timeout", "8s")
            expect(received["data"], DATA, "the data")
            expect(
                [received[key] for key in ("legacy", "truncated", "connectable", "scannable")],
                [False, False, False, kind == "scannable"], "the packet")
            # RootCanal does not report the set of a response.
            if kind == "nonconnectable":
                expect(received["sid"], 5, "the set")


scenario(steps)
