"""The central of the tour of Examples performs every step with a Bumble peripheral, which has received all data."""
import signal
from contextlib import asynccontextmanager

from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Service

from peers.bletool import soon
from peers.device import OTHER_PERIPHERAL, device
from peers.example import example
from peers.scenario import expect, scenario
from peers.tour import tour

LINES = [
    "found Grand tour with [fff0], connectable",
    "its identifier is lasting: true, public or static: true",
    "its overflow area has the bit of fff0: true",
    "a second connect has joined the first, and is connected without it",
    "events: connected, disconnected",
    "suspended: of 4 events one came, disconnected; the next is connected",
    "a connect without limit: connecting, cancelled, disconnected",
    "a connect with a limit: no link, failed",
    'retrieved by identifier: ["connected"]',
    "connected: 1 with fff0, 0 with fffa",
    "linked by this process: true",
    "known from before: 1",
    "signal strength: -127 to 20 dBm, or unknown: true",
    "longest write: 512 octets, without response the MTU less 3: true",
    "services: [180f, fff0]",
    "included in fff0: [180f]",
    "characteristics of fff0: [fff1, fff2, fff3, fff4, fff5, fff6, fff7, fff8, fffd]",
    "descriptor of fff2: it is called Answers",
    "descriptor of fff2: it is text",
    "descriptor of fff2: no client has subscribed",
    "descriptor of fff4: it is written reliably",
    "heart rate: 72 a minute",
    "battery: 80 %",
    "made by Examples, model Tour",
    "greet: welcome",
    "slower: latency 2",
    "faster: latency 0",
    "a flood came whole",
    "without response: full true, then ready true, all counted true",
    "slow: worth waiting for",
    "left and right are written",
    "guests after add: 1",
    "guests after remove: 0",
    "no alarm without pairing: true",
    "alarm by notification: fire; the link is encrypted",
    "alarm by indication: fire; the link is encrypted",
    "signed: by me; the link is open",
    "chain: battery 80 % by scan, connect, read",
    "each: [80, 90] %",
    "chain to an absent device: scan failed, as channel absent reports",
    "states: poweredOn, poweredOff; the adapter was closed",
]


@asynccontextmanager
async def grander(radio):
    """Creates a second device, whose battery the chain of the tour reads."""
    level = Characteristic("2a19", Characteristic.Properties.READ, Characteristic.READABLE, bytes([90]))
    async with device(radio, OTHER_PERIPHERAL, "Grander", [Service("180f", [level])]) as host:
        await host.start_advertising(
            advertising_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Grander")])),
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        yield


async def listens(radio):
    """Checks that the scans are restored after a crash, except for the one that the second run ends."""
    for scans in (0, 2, 1):
        async with example("tour", radio, "listening", "state") as listening:
            await listening.line(f"^came back: {scans} scans, 0 devices$")
            await listening.line("^receives Grand tour$")
            expect(await listening.stop(signal.SIGKILL), -signal.SIGKILL, "the end of the listener")


async def steps(radio):
    async with tour(radio) as peripheral, grander(radio), \
            example("tour", radio, "central", "state", 2) as central:
        for line in LINES:
            expect((await central.line("")).string.rstrip(), line, "a line")
        expect(await soon(central.process.wait(), "the end of the tour"), 0, "its exit code")
        expect(
            peripheral.commands, ["greet", "slower", "faster", "flood", "add", "remove"], "the commands")
        expect(peripheral.latencies, [2, 0], "the latencies of the link")
        *most, last = peripheral.sunk
        expect((set(most), last), ({bytes([1, 2, 3])}, bytes([4])), "what was written without response")
        expect(peripheral.written, {"fff4": bytes([1]), "fff5": bytes([2])}, "what was written together")
        expect(
            peripheral.alarms, [(True, True, False), (True, False, True)],
            "encryption, notifications, indications of the subscriptions to alarms")
        await listens(radio)


scenario(steps)
