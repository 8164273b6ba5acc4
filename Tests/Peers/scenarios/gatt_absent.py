"""`bletool gatt` to an address that no device has fails at --connect-timeout or --timeout, with an error."""
from peers.bletool import bletool
from peers.scenario import scenario

NOT_FOUND = 2
ABSENT = "F0:00:00:00:00:99/random"


async def steps(radio):
    await bletool("gatt", ABSENT, "tree", "--connect-timeout", "500ms", "--adapter", radio, code=NOT_FOUND)
    await bletool("gatt", ABSENT, "tree", "--timeout", "500ms", "--adapter", radio, code=NOT_FOUND)


scenario(steps)
