"""Servers that violate the specification as devices in the field do. What can be understood is usable, the rest is told."""
import asyncio
from pathlib import Path

from peers.bletool import bletool, running
from peers.device import PERIPHERAL
from peers.odd import OddServer, odd, refusal, u16
from peers.scenario import expect, scenario


async def gatt(radio, *words, code=0):
    return await bletool("gatt", PERIPHERAL, *words, "--adapter", radio, code=code)


async def reads_level(radio):
    [value] = await gatt(radio, "read", "2a19")
    expect(value["value"], "57", "the level")


async def faulty_tree(radio, server, faults):
    """Reads a value by its UUID, and the tree, which ends with 7 after everything has been shown."""
    async with odd(radio, server):
        await reads_level(radio)
        [tree, error] = await gatt(radio, "tree", code=7)
        expect([fault["handle"] for fault in tree["faults"]], faults, "the faults")
        expect(error["kind"], "peer", "the kind of error")
        return {service["uuid"]: service for service in tree["services"]}


async def values_elsewhere(radio):
    """The values of the first service are within the second one."""
    server = OddServer().battery()
    server.service(0x10, 0x1800, 0x14)
    server.characteristic(0x11, 0x2a00, 0x0a, b"Pen", at=0x16)
    server.characteristic(0x13, 0x2a01, 0x02, u16(0x03c7), at=0x18)
    server.service(0x15, 0x180a, 0x1d)
    server.characteristic(0x19, 0x2a24, 0x02, b"1.0")
    services = await faulty_tree(radio, server, [0x11, 0x13])
    expect([c["valueHandle"] for c in services["1800"]["characteristics"]], [0x16, 0x18], "the values")
    async with odd(radio, server):
        # What cannot be certain is not written by its UUID.
        await gatt(radio, "write", "2a00", "utf8:Ink", code=1)
        await gatt(radio, "write", "0x0016", "utf8:Ink")


async def ends_elsewhere(radio):
    """A service has the end 0, then each has the last handle."""
    server = OddServer().battery()
    server.ends[0x20] = 0
    await faulty_tree(radio, server, [0x20])
    server.service(0x01, 0x1800, 0xffff)
    server.ends[0x20] = 0xffff
    services = await faulty_tree(radio, server, [0x01])
    expect([s["endHandle"] for s in services.values()], [0x1f, 0xffff], "the ends")


async def list_ends_with_error(radio):
    """The list of services ends with an error that the specification does not have."""
    await faulty_tree(
        radio, OddServer(lambda p: [refusal(p[0], 0, 0)] if p.hex() == "102400ffff0028" else None).battery(), [0x24])


async def no_exchange(radio):
    """The request for the MTU has no answer."""
    server = OddServer(lambda p: [] if p[0] == 0x02 else None).battery()
    async with odd(radio, server):
        async with running("gatt", PERIPHERAL, "read", "2a19", "--adapter", radio) as client:
            code, events = await client.end(30)
            expect(code, 0, "the exit status")
            expect(events[-1]["value"], "57", "the level")
            assert "exchange of the MTU" in client.messages, client.messages
        expect(sum(request.startswith("02") for request in server.requests), 1, "requests for the MTU")
        # A device that is named is looked for in steps, each of which has a limit of its own.
        server.requests.clear()
        [value] = await bletool("gatt", "name:Odd", "read", "2a19", "--adapter", radio)
        expect(value["value"], "57", "the level of a device that is named")
        expect(sum(request.startswith("02") for request in server.requests), 1, "requests for the MTU")


async def errors_about_others(radio):
    """Each error names another request."""
    def answers(request):
        right = server.answer(request)
        return [right[:1] + b"\x12" + right[2:]] if right and right[0] == 1 else None

    server = OddServer(answers).battery()
    async with odd(radio, server):
        [error] = await gatt(radio, "tree", code=7)
        assert "an error about Write Request" in error["message"], error


async def values_without_configuration(radio):
    """Values come without a subscription, which is impossible."""
    server = OddServer(lambda p: [server.answer(p)] + [b"\x1b\x12\x00" + bytes([n]) for n in range(3)])
    server.service(0x10, 0xffe0, 0x12)
    server.characteristic(0x11, 0xffe1, 0x10)
    async with odd(radio, server):
        events = await gatt(radio, "notify", "ffe1", "--count", 3)
        expect([event["event"] for event in events], ["subscribed"] + ["notification"] * 3, "the events")
        expect(events[0]["subscribed"], False, "whether it is subscribed")


async def order_of_arrival(radio):
    """The values of two characteristics alternate."""
    def answers(request):
        if request[0] != 0x12 or request[1:3] != u16(0x16):
            return None
        values = [b"\x1b" + u16(0x12 + 3 * (n % 2)) + u16(n) for n in range(200)]
        return [b"\x13"] + values

    server = OddServer(answers)
    server.service(0x10, 0xffe0, 0x16)
    for handle, uuid in ((0x11, 0xffe1), (0x14, 0xffe2)):
        server.characteristic(handle, uuid, 0x10)
        server.attributes[handle + 2] = (0x2902, bytes(2))
    async with odd(radio, server):
        events = await gatt(radio, "notify", "ffe1", "ffe2", "--count", 200)
        values = [event["value"] for event in events if event["event"] == "notification"]
        expect(values, [u16(n).hex() for n in range(200)], "the order of the values")


async def only_commands(radio):
    """A characteristic can only be written without response."""
    server = OddServer()
    server.service(0x10, 0xffe0, 0x12)
    server.characteristic(0x11, 0xffe1, 0x04)
    async with odd(radio, server):
        [written] = await gatt(radio, "write", "ffe1", "01")
        expect(written["acknowledged"], False, "whether the write is confirmed")
        assert "52120001" in server.requests, server.requests


async def refused_then_subscribed(radio):
    """The first subscription is refused, and the second one is not: each value comes once."""
    def answers(request):
        if request[0] != 0x12 or request[1:3] != u16(0x23) or request[3:] == bytes(2):
            return None
        if not server.refused:
            server.refused = True
            return [refusal(0x12, 0x23, 0x0e)]
        return [b"\x13"] + [b"\x1b" + u16(0x22) + bytes([n]) for n in range(3)]

    server = OddServer(answers).battery()
    server.refused = False
    async with odd(radio, server):
        Path("steps").write_text("subscribe 2a19\nsubscribe 2a19\nwait notification\nwait notification\nwait notification\nread 2a19\n")
        events = await gatt(radio, "run", "steps", "--keep-going", code=5)
        values = [event["value"] for event in events if event["event"] == "notification"]
        expect(values, ["00", "01", "02"], "the values")


async def values_before_the_end(radio):
    """The device ends the link after its values: each `wait` takes its value, and then the end is reported."""
    def answers(request):
        if request[0] != 0x12 or request[1:3] != u16(0x23):
            return None
        asyncio.get_running_loop().call_later(0.5, lambda: asyncio.ensure_future(server.connection.disconnect()))
        return [b"\x13"] + [b"\x1b" + u16(0x22) + bytes([n]) for n in range(2)]

    server = OddServer(answers).battery()
    async with odd(radio, server):
        Path("steps").write_text("subscribe 2a19\nwait disconnection\nwait notification\nwait notification\nwait notification\n")
        events = await gatt(radio, "run", "steps", code=7)
        expect(events[-1]["kind"], "linkLost", "the kind of error")
        assert "steps:5" in events[-1]["message"], events[-1]


async def preference_for_indications(radio):
    """`--indicate` is a preference: a characteristic that only notifies notifies."""
    server = OddServer(lambda p: [b"\x13", b"\x1b" + u16(0x22) + b"\x07"] if p[:3] == b"\x12" + u16(0x23) else None)
    async with odd(radio, server.battery()):
        events = await gatt(radio, "notify", "2a19", "--indicate", "--count", 1)
        expect(events[-1]["value"], "07", "the value")


async def silent_configuration(radio):
    """A write of the configuration has no answer: the time of the request ends the command, not that of its values."""
    async with odd(radio, OddServer(lambda p: [] if p[0] == 0x12 and p[1:3] == u16(0x23) else None).battery()):
        async with running("gatt", PERIPHERAL, "notify", "2a19", "--count", "3", "--adapter", radio) as client:
            code, events = await client.end(60)
            expect(code, 2, "the exit status")
            client.expect_error(events)


async def steps(radio):
    await values_elsewhere(radio)
    await ends_elsewhere(radio)
    await list_ends_with_error(radio)
    await no_exchange(radio)
    await errors_about_others(radio)
    await values_without_configuration(radio)
    await order_of_arrival(radio)
    await only_commands(radio)
    await refused_then_subscribed(radio)
    await values_before_the_end(radio)
    await preference_for_indications(radio)
    await silent_configuration(radio)


scenario(steps)
