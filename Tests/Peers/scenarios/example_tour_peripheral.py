"""A Bumble central uses all functions of the peripheral of the tour of Examples, and pairs where this is required."""
import asyncio
import signal

from bumble.att import ATT_CID, ATT_Error, ErrorCode
from bumble.core import AdvertisingData
from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import CENTRAL, characteristic, connected, device, find
from peers.example import example
from peers.pairing import IO, pair_with
from peers.raw import Frames
from peers.scenario import expect, scenario
from peers.signing import BUMBLES_KEY, signed_write
from peers.tour import OVERFLOW_AREA, followed_latencies


async def receive(central):
    """Waits for the service with the shortened name, and for the overflow area. Returns the address of the advertiser."""
    found, area = (asyncio.get_running_loop().create_future() for _ in range(2))

    def received(advertisement):
        data = advertisement.data
        if data.get(AdvertisingData.SHORTENED_LOCAL_NAME) == "Grand tour" and not found.done():
            services = data.get(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, raw=True)
            expect(services.hex(), "f0ff", "the services")
            found.set_result(advertisement.address)
        if OVERFLOW_AREA in data.get_all(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, raw=True):
            if not area.done():
                area.set_result(None)

    central.on("advertisement", received)
    await central.start_scanning(filter_duplicates=False)
    address = await soon(found, "the tour")
    await soon(area, "the overflow area")
    await central.stop_scanning()
    central.remove_listener("advertisement", received)
    return address


async def subscribed(peer, uuid, **options):
    """Subscribes to a characteristic, and returns it with a queue of its values."""
    values = asyncio.Queue()
    source = await characteristic(peer, uuid)
    await source.subscribe(values.put_nowait, **options)
    return source, values


async def commands(peer, tour):
    command, (_, answers) = await characteristic(peer, "fff1"), await subscribed(peer, "fff2")

    latencies = followed_latencies(peer.connection)

    async def send(word, answer):
        await command.write_value(word.encode(), with_response=True)
        expect(await soon(answers.get(), f"an answer to {word}"), answer.encode(), word)
        await tour.line(f"^{word}: {answer}$")

    await send("greet", "welcome")
    for word, latency in (("slower", 2), ("faster", 0)):
        await send(word, f"latency {latency}")
        while await soon(latencies.get(), "other parameters") != latency:
            pass
    _, flood = await subscribed(peer, "fff8")
    await send("flood", "full, then ready")
    numbers = [int.from_bytes(flood.get_nowait(), "little") for _ in range(flood.qsize())]
    expect(numbers, [*range(1, len(numbers)), 0], "the flood")
    assert len(numbers) > 64, f"{len(numbers)} values fill the link"
    _, changes = await subscribed(peer, "2a05")
    for word, answer, count in (("add", "a guest came", 1), ("remove", "the guest left", 0)):
        await send(word, answer)
        await soon(changes.get(), "Service Changed")
        expect(len(await peer.discover_service("fffa")), count, "guests")


async def values(peer, tour):
    _, rates = await subscribed(peer, "2a37")
    expect(await soon(rates.get(), "a heart rate"), bytes([0, 72]), "the heart rate")
    await tour.line(r"^heart rate: room for \d+ octets$")
    expect(await (await characteristic(peer, "2a19")).read_value(), bytes([80]), "the battery")
    expect(await (await characteristic(peer, "fff3")).read_value(), b"worth waiting for", "the slow value")
    await tour.line(r"^slow: asked from octet 0, in packets of \d+ octets$")
    await tour.line("^slow: answered later$")
    sink = await characteristic(peer, "fff7")
    for number in range(50):
        await sink.write_value(bytes([number]))
    expect(await sink.read_value(), bytes([50, 0]), "how many writes were counted")
    handles = [(await characteristic(peer, uuid)).handle.to_bytes(2, "little").hex() for uuid in ("fff4", "fff5")]
    att = Frames(peer.connection)
    for handle, value in zip(handles, ("01", "02")):
        expect(await att.ask(f"16{handle}0000{value}"), f"17{handle}0000{value}", "the echo")
    expect(await att.ask("1801"), "19", "the execution")
    att.release()
    await tour.line(r"^together: fff4 \[1\], fff5 \[2\]$")


async def alarms(peer, tour):
    try:
        await subscribed(peer, "fff6")
        raise AssertionError("alarms without pairing")
    except ATT_Error as error:
        expect(error.error_code, ErrorCode.INSUFFICIENT_AUTHENTICATION, "the error of the subscription")
    await soon(peer.connection.pair(), "pairing")
    for kind, prefer_notify in (("notifications", True), ("indications", False)):
        alarm, values = await subscribed(peer, "fff6", prefer_notify=prefer_notify)
        expect(await soon(values.get(), "an alarm"), b"fire", "the alarm")
        await tour.line(f"^alarm: {kind} for a link that is encrypted$")
        await alarm.unsubscribe(force=True)


async def signs(peer, tour):
    target = await characteristic(peer, "fffd")
    peer.connection.send_l2cap_pdu(ATT_CID, signed_write(target.handle, b"by Bumble", 1, BUMBLES_KEY))
    expect(await soon(target.read_value(), "what was signed"), b"by Bumble", "what was signed")
    await tour.line("^signed: by Bumble by a link that is open$")


async def returns(radio, central):
    """Checks that the value that Bumble has written and the advertisement are restored after a crash."""
    for advertisements, setting in ((0, b"new"), (1, b"kept")):
        async with example("tour", radio, "returning", "state") as returning:
            kept = setting.decode() if advertisements else ""
            await returning.line(f"^came back: {advertisements} on air, setting {kept}$")
            async with connected(central, (await find(central, "Returning")).address) as peer:
                value = await characteristic(peer, "fff9")
                expect(await value.read_value(), setting, "the setting")
                await value.write_value(b"kept", with_response=True)
                await returning.line("^setting kept$")
                expect(await returning.stop(signal.SIGKILL), -signal.SIGKILL, "the end of the peripheral")
                await soon(peer.lost, "the end of the link")


async def steps(radio):
    async with device(radio, CENTRAL, irk=bytes(range(16))) as central:
        central.keystore = MemoryKeyStore()
        person = pair_with(central, IO.NO_OUTPUT_NO_INPUT, True, False)
        person.local_initiator_key_distribution |= person.KeyDistribution.DISTRIBUTE_SIGNING_KEY
        async with example("tour", radio, "peripheral") as tour:
            address = await receive(central)
            async with connected(central, address) as peer:
                await commands(peer, tour)
                await values(peer, tour)
                await alarms(peer, tour)
            async with connected(central, address) as peer:
                await signs(peer, tour)
        await returns(radio, central)


scenario(steps)
