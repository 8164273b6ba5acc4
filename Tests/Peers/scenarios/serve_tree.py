"""Bumble discovers the whole database of `bletool serve`, which equals the configuration."""
from peers.device import CENTRAL, address_of, connected, device
from peers.scenario import expect, scenario
from peers.thermometer import serving, tree
from peers.words import names, text


def seen(service):
    """Returns a service that Bumble has discovered, in the form of `tree()`."""
    return {
        "uuid": text(service.uuid), "handle": service.handle, "endHandle": service.end_group_handle,
        "includes": [text(included.uuid) for included in service.included_services],
        "characteristics": [{
            "uuid": text(c.uuid), "valueHandle": c.handle,
            "properties": names(c.properties),
            "descriptors": sorted(text(descriptor.type) for descriptor in c.descriptors),
        } for c in service.characteristics]}


async def steps(radio):
    async with serving(radio) as (_, ready), device(radio, CENTRAL) as central:
        for mtu in (None, 517):  # with the default MTU, discovery takes many requests
            async with connected(central, address_of(ready)) as peer:
                if mtu:
                    expect(await peer.request_mtu(mtu), 247, "MTU")
                await peer.discover_all()
                for service in peer.services:
                    await peer.discover_included_services(service)
                found = [seen(service) for service in peer.services]
                expect([service["uuid"] for service in found[:2]], ["1800", "1801"], "the standard services")
                expect(found[2:], tree(), "the tree")


scenario(steps)
