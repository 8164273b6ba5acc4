"""The recognizing central of the tour of Examples bonds with a Bumble peripheral that has private addresses, and recognizes
it after a restart of the central."""
import asyncio

from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command
from bumble.keys import MemoryKeyStore

from peers.bletool import soon
from peers.device import PERIPHERAL, device
from peers.example import example
from peers.pairing import IO, pair_with
from peers.scenario import expect, scenario

Can = Characteristic.Properties
NAME = (AdvertisingData.COMPLETE_LOCAL_NAME, b"Hiding")
VALUE = (AdvertisingData.SERVICE_DATA_16_BIT_UUID, bytes.fromhex("f0ff") + b"21")


class Hiding:
    """The database and its device."""

    def __init__(self):
        self.alarm = Characteristic("fff6", Can.NOTIFY, 0, b"")
        self.broadcast = bytes(2)
        setting = Characteristic(
            "fff9", Can.READ | Can.BROADCAST, Characteristic.READABLE, b"21",
            [Descriptor("2903", Characteristic.READABLE | Characteristic.WRITEABLE, self.broadcast)])
        [self.switch] = setting.descriptors
        self.switch.on("write", self.take)
        self.services = [Service("fff0", [self.alarm, setting])]

    def take(self, connection, value):
        self.broadcast = value

    def ring(self, connection, notify, indicate):
        if notify:
            assert connection.is_encrypted, "a subscription on a link without encryption"
            self.ringing = asyncio.create_task(
                self.device.notify_subscriber(connection, self.alarm, b"fire"))

    async def advertise(self):
        """Advertises with a new private address until a central connects. (Bumble 0.0.236 generates one by itself, but
        passes the old one to the controller.)"""
        host = self.device
        await host.stop_advertising()
        address = Address.generate_private_address(host.irk)
        await host.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
        host.random_address = address
        fields = [NAME, VALUE] if self.broadcast == bytes([1, 0]) else [NAME]
        await host.start_advertising(
            advertising_data=bytes(AdvertisingData(fields)), advertising_interval_min=50,
            advertising_interval_max=50)


async def steps(radio):
    it = Hiding()
    settings = {"le_privacy_enabled": True, "le_rpa_timeout": 0, "irk": bytes(15) + b"\2"}
    async with device(radio, PERIPHERAL, name="Hiding", **settings) as host:
        it.device = host
        it.alarm.descriptors = [Descriptor(
            "2902", Characteristic.READABLE | Characteristic.WRITEABLE
            | Characteristic.WRITE_REQUIRES_ENCRYPTION, host.gatt_server.make_descriptor_value(it.alarm))]
        host.add_services(it.services)
        it.alarm.on("subscription", it.ring)
        host.keystore = MemoryKeyStore()
        pair_with(host, IO.NO_OUTPUT_NO_INPUT, True, False)
        await it.advertise()
        lost = asyncio.get_running_loop().create_future()
        host.once("connection", lambda connection: connection.once("disconnection", lost.set_result))
        async with example("tour", radio, "recognizing", "state") as central:
            await central.line("^found one whose identifier is lasting: false$")
            await it.advertise()
            await central.line("^found one with another identifier, which is lasting: false$")
            await central.line("^bonded: true; its identifier is lasting: true$")
            await central.line("^alarm: fire$")
            await soon(lost, "the end of the link")
            expect(it.broadcast, bytes([1, 0]), "the Server Characteristic Configuration")
            await it.advertise()
            await central.line(r'^broadcast by the bonded device: true, \["21"\]$')
            expect(await soon(central.process.wait(), "the end of the central"), 0, "its exit code")
        await it.advertise()
        async with example("tour", radio, "recognizing", "state") as central:
            await central.line("^recognized by the bond$")
            # Bumble discards the subscriptions of a client at the end of the link.
            await central.line("^still subscribed: false$")
            expect(await soon(central.process.wait(), "the end of the central"), 0, "its exit code")


scenario(steps)
