"""The gateway of Examples connects again to a Bumble thermometer after the loss of the link, a restart and a SIGKILL."""
import asyncio
import signal

from bumble.core import AdvertisingData
from bumble.gatt import Characteristic, Service

from peers.bletool import soon
from peers.device import PERIPHERAL, device
from peers.example import example
from peers.scenario import expect, scenario

# 36.6 degrees Celsius as an IEEE 11073 32-bit float: 366 times ten to the minus first.
MEASUREMENT = bytes([0, 0x6E, 0x01, 0x00, 0xFF])


async def steps(radio):
    measurement = Characteristic("2a1c", Characteristic.Properties.INDICATE, 0, b"")
    async with device(radio, PERIPHERAL, "Fever", [Service("1809", [measurement])]) as peripheral:
        async def advertise():
            await peripheral.start_advertising(
                advertising_data=bytes(AdvertisingData([
                    (AdvertisingData.FLAGS, bytes([6])),
                    (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex("0918")),
                ])), auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)

        def link_end():
            [connection] = peripheral.connections.values()
            lost = asyncio.get_running_loop().create_future()
            connection.once("disconnection", lost.set_result)
            return lost

        async def measure():
            while True:
                await peripheral.indicate_subscribers(measurement, MEASUREMENT)
                await asyncio.sleep(0.1)

        await advertise()
        async with example("gateway", radio, 1, "state") as gateway:
            for session in (1, 2):
                await gateway.line(f"^{PERIPHERAL}/random connected {session}$")
                # Measuring ends before the link: a wait for a confirmation on a lost link would delay the end.
                measuring = asyncio.create_task(measure())
                for _ in range(2):
                    await gateway.line(f"^{PERIPHERAL}/random celsius 36.6$")
                measuring.cancel()
                if session == 1:
                    [connection] = peripheral.connections.values()
                    await connection.disconnect()
                    await gateway.line(f"^{PERIPHERAL}/random lost: .*0x13.*; again in")
            lost = link_end()
            expect(await gateway.stop(signal.SIGTERM), -signal.SIGTERM, "the end of the gateway")
            expect(await soon(lost, "the end of the link"), 0x13, "the reason of the link's end")
        # The gateway connects again, without a scan, to the devices that it had at its end.
        async with example("gateway", radio, 1, "state") as gateway:
            await gateway.line(f"^{PERIPHERAL}/random is known$")
            await gateway.line(f"^{PERIPHERAL}/random connected 1$")
            measuring = asyncio.create_task(measure())
            await gateway.line(f"^{PERIPHERAL}/random celsius 36.6$")
            measuring.cancel()
            lost = link_end()
            expect(await gateway.stop(signal.SIGKILL), -signal.SIGKILL, "the end of the gateway")
            await soon(lost, "the end of the link of a gateway that was killed")
        # The gateway waits until an absent device advertises. Bumble has restarted advertising, so it is stopped.
        await asyncio.sleep(1)
        await peripheral.stop_advertising()
        async with example("gateway", radio, 1, "state") as gateway:
            await gateway.line(f"^{PERIPHERAL}/random is known$")
            await asyncio.sleep(2)
            await advertise()
            await gateway.line(f"^{PERIPHERAL}/random connected 1$")
            measuring = asyncio.create_task(measure())
            await gateway.line(f"^{PERIPHERAL}/random celsius 36.6$")
            measuring.cancel()
            expect(await gateway.stop(), -signal.SIGINT, "the end of the gateway")


scenario(steps)
