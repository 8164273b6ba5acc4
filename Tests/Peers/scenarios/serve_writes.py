"""Bumble writes to `bletool serve`, by request and by command, and reads the values back."""
from peers.device import CENTRAL, address_of, characteristic, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import COMMAND, LIMITED, NOTE, SECRET, serving, value_handle


async def steps(radio):
    async with serving(radio) as (server, ready), device(radio, CENTRAL) as central:
        async with connected(central, address_of(ready)) as peer:
            for uuid, value, kind in [
                (NOTE, b"short", "request"), (NOTE, b"", "request"), (LIMITED, b"\1\2\3\4", "request"),
                (SECRET, b"secret", "request"),
                (COMMAND, b"\x2a", "command"), (COMMAND, bytes(20), "command"),
            ]:
                target = await characteristic(peer, uuid)
                await target.write_value(value, with_response=kind == "request")
                if uuid != SECRET:
                    expect(await target.read_value(), value, f"{uuid} after the {kind}")
                await server.event(
                    "write", central=CENTRAL, addressType="random", handle=value_handle(uuid), uuid=uuid,
                    value=value.hex(), type=kind)


scenario(steps)
