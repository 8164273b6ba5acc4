"""`bletool bench` measures reads, writes and values of a Bumble peripheral, one operation at a time."""
from peers.bletool import bletool
from peers.device import PERIPHERAL
from peers.gadget import COUNTER, NOTE, gadget
from peers.scenario import expect, scenario


async def steps(radio):
    async with gadget(radio) as peripheral:
        for option, attribute, uuid, operation, count, octets in [
            ("--read", peripheral.note, NOTE, "read", 20, 20 * len(b"hello")),
            ("--write", peripheral.note, NOTE, "write", 20, 20 * 16),
            ("--notify", peripheral.counter, COUNTER, "notification", 5, 5 * 2),
        ]:
            size = ["--size", 16] if operation == "write" else []
            [event] = await bletool(
                "bench", PERIPHERAL, option, uuid, "--count", count, *size, "--adapter", radio)
            expect(
                [event[key] for key in ("event", "operation", "handle", "uuid", "operations", "octets")],
                ["bench", operation, attribute.handle, uuid, count, octets], "the operation and its counts")
            latency = event["latency"]
            points = [latency[key] for key in ("min", "median", "p90", "p99", "max")]
            assert points == sorted(points) and points[0] > 0, f"the latencies are not in order: {latency}"
            # The time of a value begins at the previous value. The first value has no time.
            expect(sum(bucket["count"] for bucket in event["histogram"]), count, "the times in the histogram")


scenario(steps)
