import BLECore
import HCI
import Recordings
import TestSupport
import Testing

@testable import bletool

private let steps: [(Record.Direction, String)] = [
    (.controllerToHost, "043e1301004000000006050403020118000000f40100"),
    (.hostToController, "0240000700030004000a0300"), (.controllerToHost, "02402009000500040001 0a030002"),
    (.hostToController, "0240000600070004001203"), (.controllerToHost, "024120060002000400 0b3c"),
]

struct LadderDiagramTests {
    private func diagram() -> LadderDiagram {
        var (dissector, diagram) = (Dissector(), LadderDiagram())
        for (index, step) in steps.enumerated() {
            let bytes = octets(step.1)
            let time = RecordingTime(microseconds: 5_000_000 + Int64(index) * 1500)
            let packet = dissector.dissect(Record(time: time, content: .packet(step.0, bytes)))
            diagram.add(packet, since: RecordingTime(microseconds: 5_000_000))
        }
        return diagram
    }

    @Test func packetsBecomeArrowsExceptFragments() {
        let diagram = diagram()
        #expect(diagram.peers == ["01:02:03:04:05:06", "connection 0x0041"])
        #expect(
            diagram.rows == [
                .init(
                    frame: 1, time: 0, from: .controller, to: .host, text: "LE Connection Complete",
                    isError: false),
                .init(frame: 2, time: 1500, from: .host, to: .peer(0), text: "Read Request", isError: false),
                .init(
                    frame: 3, time: 3000, from: .peer(0), to: .host,
                    text: "Read Request: Read Not Permitted (0x02)", isError: true),
                .init(
                    frame: 5, time: 6000, from: .peer(1), to: .host, text: "Read Response = 3c",
                    isError: false),
            ])
    }

    @Test func svgIsEscapedXML() {
        let picture = diagram().svg(title: "a<b> & \"c\".btsnoop")
        #expect(picture.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1300\" height=\"166\""))
        #expect(picture.contains("<title>a&lt;b&gt; &amp; &quot;c&quot;.btsnoop</title>"))
        #expect(picture.contains("stroke=\"#c00\""))
        #expect(picture.hasSuffix("</svg>\n"))
        // XML has no escape for control characters.
        let hostile = diagram().svg(title: "a\u{1b}]0;x\u{7}\u{9b}\u{0}\tb")
        #expect(hostile.contains("<title>a\u{fffd}]0;x\u{fffd}\u{fffd}\u{fffd}\tb</title>"))
    }
}
