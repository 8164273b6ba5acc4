"""`bletool gatt … run`: many operations on one connection to a Bumble peripheral, from a file and line by line."""
import asyncio
from pathlib import Path

from peers.bletool import bletool, running, soon
from peers.device import PERIPHERAL
from peers.gadget import ALARM, COUNTER, NOTE, SECRET, gadget
from peers.scenario import expect, scenario

SCRIPT = f"""\
# operations on a device within a few seconds
read {NOTE}
subscribe {COUNTER}
write {NOTE} 'utf8:two words'
wait notification {COUNTER} --within 5s
read {NOTE}
subscribe {ALARM} --indicate
wait indication --within 5s
unsubscribe {COUNTER}
sleep 300ms
"""


async def steps(radio):
    async with gadget(radio) as peripheral:
        links = []
        peripheral.device.on("connection", links.append)
        Path("session.txt").write_text(SCRIPT)
        events = await bletool("gatt", PERIPHERAL, "run", "session.txt", "--adapter", radio)
        expect(len(links), 1, "the connections")
        answers = [(event["event"], event["line"]) for event in events if "line" in event]
        expect(answers, [
            ("value", 2), ("subscribed", 3), ("written", 4), ("value", 6), ("subscribed", 7)], "the answers")
        expect([bytes.fromhex(event["value"]) for event in events if event["event"] == "value"],
               [b"hello", b"two words"], "the values that were read")
        pushed = [event["event"] for event in events if event["event"] in ("notification", "indication")]
        assert "notification" in pushed and "indication" in pushed
        after = events[next(i for i, e in enumerate(events) if e["event"] == "indication") + 1:]
        assert all(event["uuid"] == ALARM for event in after[2:]), "notifications after their end"

        # The first line that fails ends the run with its exit status. With --keep-going, all lines run.
        Path("refused.txt").write_text(f"read {SECRET}\nread {NOTE}\n")
        events = await bletool("gatt", PERIPHERAL, "run", "refused.txt", "--adapter", radio, code=5)
        expect([event["event"] for event in events], ["error"], "the events until the failure")
        events = await bletool("gatt", PERIPHERAL, "run", "refused.txt", "--keep-going", "--adapter", radio, code=5)
        expect([event["event"] for event in events], ["error", "value", "error"], "the events with --keep-going")
        assert events[0]["message"].startswith("refused.txt:1: "), events[0]["message"]

        # No line of a script with an invalid line runs.
        Path("wrong.txt").write_text(f"read {NOTE}\nreed {NOTE}\n")
        links.clear()
        [error] = await bletool("gatt", PERIPHERAL, "run", "wrong.txt", "--adapter", radio, code=1)
        assert error["message"].startswith("wrong.txt:2: "), error["message"]
        expect(links, [], "the connections")

        # Line by line, as a program does that reads the answers.
        async with running("gatt", PERIPHERAL, "run", "-", "--adapter", radio, stdin=asyncio.subprocess.PIPE) as session:
            for number, line in enumerate([f"read {NOTE}", "", f"read {COUNTER}"], 1):
                session.process.stdin.write(f"{line}\n".encode())
                if line:
                    await session.event("value", line=number)
            session.process.stdin.write(b"wait disconnection")
            session.process.stdin.close()
            await asyncio.sleep(0.2)
            [connection] = peripheral.device.connections.values()
            await connection.disconnect()
            await session.event("disconnected", line=4)
            expect((await soon(session.process.wait(), "the end")), 0, "the exit status")


scenario(steps)
