"""A Bumble peripheral with the service of the tour of Examples, and the actions of a central."""
import asyncio
from contextlib import asynccontextmanager

from bumble.att import AttributeValue
from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import PERIPHERAL, device
from peers.pairing import IO, pair_with
from peers.signing import OPCODE, verified

Can = Characteristic.Properties
READ, WRITE = Characteristic.READABLE, Characteristic.WRITEABLE
# Bit 13 of the 128 bits in the advertisement of an iOS application in the background.
OVERFLOW_AREA = bytes.fromhex("4c0001") + (1 << 127 - 13).to_bytes(16, "big")
FLOOD = 300
# A Characteristic Presentation Format: UTF-8, no exponent, no unit, the SIG's namespace, no description.
TEXT = bytes.fromhex("19000027010000")
# Characteristic Extended Properties.
RELIABLE_WRITE = bytes([1, 0])


def followed_latencies(connection):
    """Returns a queue that receives the latency of a link at each further update of its parameters."""
    latencies = asyncio.Queue()
    connection.on(
        "connection_parameters_update",
        lambda: latencies.put_nowait(connection.parameters.peripheral_latency))
    return latencies


class Tour:
    """The database and its device. Written values are stored in order."""

    def __init__(self):
        self.turn = asyncio.Lock()
        self.commands, self.sunk, self.written, self.alarms, self.latencies = [], [], {}, [], []
        self.signed, self.counter = b"", -1
        battery = Service("180f", [Characteristic("2a19", Can.READ, READ, bytes([80]))])
        self.answer = Characteristic(
            "fff2", Can.NOTIFY, 0, b"",
            [Descriptor("2901", READ, b"Answers"), Descriptor("2904", READ, TEXT)])
        self.alarm = Characteristic("fff6", Can.NOTIFY | Can.INDICATE, 0, b"")
        self.flood = Characteristic("fff8", Can.NOTIFY, 0, b"")
        self.rate = Characteristic("2a37", Can.NOTIFY, 0, b"")
        self.guest = Service("fffa", [Characteristic("fffb", Can.READ, READ, b"guest")])
        tour = Service("fff0", [
            Characteristic("fff1", Can.WRITE, WRITE, AttributeValue(write=self.take)), self.answer,
            Characteristic("fff3", Can.READ, READ, b"worth waiting for"),
            *(Characteristic(
                uuid, Can.WRITE | Can.EXTENDED_PROPERTIES, WRITE, AttributeValue(write=self.keep(uuid)),
                [Descriptor("2900", READ, RELIABLE_WRITE)]) for uuid in ("fff4", "fff5")),
            self.alarm,
            Characteristic(
                "fff7", Can.READ | Can.WRITE_WITHOUT_RESPONSE, READ | WRITE,
                AttributeValue(
                    read=lambda _: len(self.sunk).to_bytes(2, "little"),
                    write=lambda _, value: self.sunk.append(value))),
            self.flood,
            Characteristic(
                "fffd", Can.READ | Can.AUTHENTICATED_SIGNED_WRITES, READ,
                AttributeValue(read=lambda _: self.signed)),
        ], included_services=[battery])
        information = Service("180a", [
            Characteristic(uuid, Can.READ, READ, text)
            for uuid, text in (("2a29", b"Examples"), ("2a24", b"Tour"))])
        self.services = [battery, tour, information, Service("180d", [self.rate])]

    def keep(self, uuid):
        return lambda _, value: self.written.update({uuid: value})

    def take(self, connection, value):
        self.commands.append(value.decode())
        # The task runs after the response, and after the previous command.
        self.working = asyncio.create_task(self.in_turn(connection, value.decode()))

    async def in_turn(self, connection, word):
        async with self.turn:
            await self.work(connection, word)

    async def work(self, connection, word):
        host = self.device
        answer = "welcome"
        if word in ("slower", "faster"):
            timing = (240, 300, 2, 6000) if word == "slower" else (15, 30, 0, 4000)
            latencies = followed_latencies(connection)
            await connection.update_parameters(*timing, use_l2cap=True)
            while (latency := await soon(latencies.get(), "other parameters")) != timing[2]:
                pass
            self.latencies.append(latency)
            answer = f"latency {latency}"
        elif word == "flood":
            for number in [*range(1, FLOOD + 1), 0]:
                await host.notify_subscriber(connection, self.flood, number.to_bytes(2, "little"))
        elif word in ("add", "remove"):
            server = host.gatt_server
            if word == "add":
                host.add_service(self.guest)
            else:
                server.services.remove(self.guest)
                server.attributes = [a for a in server.attributes if a.handle < self.guest.handle]
                server.attributes_by_handle.clear()
            handles = b"".join(
                handle.to_bytes(2, "little") for handle in (self.guest.handle, self.guest.end_group_handle))
            await host.indicate_subscribers(host.gatt_service.service_changed_characteristic, handles)
        await host.notify_subscriber(connection, self.answer, answer.encode())

    def take_signed(self, connection, pdu):
        """Handles Signed Write Commands, which Bumble does not support."""
        [keys] = self.device.keystore.all_keys.values()
        _, value, counter = verified(OPCODE + pdu.payload, keys.csrk.value)
        assert not connection.is_encrypted and counter > self.counter, f"counter {counter} after {self.counter}"
        self.signed, self.counter = value, counter

    def measure(self, connection, notify, indicate):
        if notify:
            self.working = asyncio.create_task(
                self.device.notify_subscriber(connection, self.rate, bytes([0, 72])))

    def ring(self, connection, notify, indicate):
        if notify or indicate:
            self.alarms.append((connection.is_encrypted, notify, indicate))
            send = self.device.notify_subscriber if notify else self.device.indicate_subscriber
            self.working = asyncio.create_task(send(connection, self.alarm, b"fire"))


@asynccontextmanager
async def tour(radio):
    """Creates a peripheral of the tour that advertises."""
    it = Tour()
    async with device(radio, PERIPHERAL, "Grand tour", irk=bytes(range(16))) as host:
        it.device = host
        # A client must pair before it subscribes to the alarm.
        it.alarm.descriptors = [Descriptor(
            "2902", READ | WRITE | Characteristic.WRITE_REQUIRES_ENCRYPTION,
            host.gatt_server.make_descriptor_value(it.alarm))]
        host.add_services(it.services)
        it.rate.on("subscription", it.measure)
        it.alarm.on("subscription", it.ring)
        host.keystore = MemoryKeyStore()
        host.gatt_server.on_att_signed_write_command = it.take_signed
        person = pair_with(host, IO.NO_OUTPUT_NO_INPUT, True, False)
        person.local_initiator_key_distribution |= person.KeyDistribution.DISTRIBUTE_SIGNING_KEY
        await host.start_advertising(
            advertising_data=bytes(AdvertisingData([
                (AdvertisingData.FLAGS, bytes([6])),
                (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex("f0ff")),
                (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, OVERFLOW_AREA),
            ])),
            scan_response_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Grand tour")])),
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        yield it
