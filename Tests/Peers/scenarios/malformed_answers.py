"""Malformed responses of a server end `bletool gatt … tree` with a message. PDUs that can be ignored are ignored."""
from bumble.att import ATT_CID, Opcode

from peers.bletool import bletool, running
from peers.device import PERIPHERAL, device
from peers.scenario import expect, scenario

# Responses to Read By Group Type, from a server whose other responses are valid.
NONSENSE = [
    "11", "1100", "110001", "110000", "1105010005000018", "11060100", "1106010005000018ff", "110701000500001800",
    "1106050001000018",  # a service that ends before it begins
    "1106000005000018",  # handle 0
    "110601000500001801000500f118",  # two services at one handle
    "090001", "0b", "0d00", "13", "01", "0110", "01100100", "0110010000", "ff", "",
]
IGNORED = ["1b", "1b01", "1e", "1d", "1bff7f00", "70", "f000"]
NOT_FOUND = "011001000a"
NO_HASH = "010801000a"


async def steps(radio):
    async with device(radio, PERIPHERAL) as peripheral:
        answers = []

        def answer(connection, channel, request):
            if channel != ATT_CID:
                return
            if request[0] == Opcode.ATT_EXCHANGE_MTU_REQUEST:
                connection.send_l2cap_pdu(ATT_CID, bytes.fromhex("031700"))
            elif request[0] == Opcode.ATT_READ_BY_GROUP_TYPE_REQUEST:
                for frame in answers:
                    connection.send_l2cap_pdu(ATT_CID, bytes.fromhex(frame))
            elif request[0] == Opcode.ATT_READ_BY_TYPE_REQUEST:
                connection.send_l2cap_pdu(ATT_CID, bytes.fromhex(NO_HASH))

        peripheral.l2cap_channel_manager.on_pdu = answer
        await peripheral.start_advertising(
            auto_restart=True, advertising_interval_min=50, advertising_interval_max=50)
        for nonsense in NONSENSE:
            answers[:] = [nonsense]
            async with running("gatt", PERIPHERAL, "tree", "--timeout", "2s", "--adapter", radio) as client:
                code, events = await client.end()
                assert code > 0, f"exit code {code} after {nonsense}"
                client.expect_error(events)
        answers[:] = IGNORED + [NOT_FOUND]
        [tree] = await bletool("gatt", PERIPHERAL, "tree", "--adapter", radio)
        expect(tree["services"], [], "the tree of an empty server")


scenario(steps)
