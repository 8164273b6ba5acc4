"""Bumble reads short and long values from `bletool serve`, which reports the MTU and each read."""
from bumble.core import UUID
from bumble.gatt import GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR as USER_DESCRIPTION

from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import BATTERY, INTERMEDIATE, LONG, LONG_VALUE, NAME, NOTE, serving, value_handle


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            opened = await server.event("connected", central=CENTRAL, addressType="random")
            assert {"interval", "latency", "timeout", "mtu"} <= opened.keys(), opened
            async def read(uuid):
                return await (await characteristic(peer, uuid)).read_value()

            expect(await read(NOTE), b"hello", "a short value")
            expect(await read(LONG), LONG_VALUE, "a long value at MTU 23")
            expect(await peer.request_mtu(100), 100, "MTU")
            await server.event("mtu", central=CENTRAL, mtu=100)
            expect(await read(LONG), LONG_VALUE, "a long value at MTU 100")
            expect(await read("2a00"), NAME.encode(), "the device name")
            expect(await peer.read_characteristics_by_uuid(UUID(BATTERY)), [b"\x64"], "by UUID")
            description = (await characteristic(peer, INTERMEDIATE)).get_descriptor(USER_DESCRIPTION)
            expect(await description.read_value(), b"Counter", "a descriptor")
            for uuid, value in ((NOTE, b"hello"), (BATTERY, b"\x64")):
                handle = value_handle(uuid)
                await server.event("read", central=CENTRAL, handle=handle, uuid=uuid, value=value.hex())
            await server.event("read", central=CENTRAL, handle=value_handle(LONG), uuid=LONG)
        await server.event("disconnected", central=CENTRAL, addressType="random", reason=0x13)


scenario(steps)
