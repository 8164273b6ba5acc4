import BLECore
import HCI
import Recordings

/// For any packets of a recording, each packet has the next number and layers with names and fields, and it
/// answers an earlier packet or none. The statistics count every packet.
///
/// The input is a sequence of packets: an octet with the direction (1 bit) and the length (7 bits), then that
/// many octets.
public func fuzzDissector(_ bytes: Span<UInt8>) {
    var dissector = Dissector()
    var statistics = RecordingStatistics()
    var frames = 0
    var reader = ByteReader(bytes, of: "input")
    while let head = try? reader.u8("packet"),
        let packet = try? reader.bytes(min(Int(head & 0x7f), reader.remaining), "packet")
    {
        frames += 1
        let direction: Record.Direction = head & 0x80 == 0 ? .hostToController : .controllerToHost
        let time = RecordingTime(microseconds: Int64(frames))
        let decoded = dissector.dissect(Record(time: time, content: .packet(direction, packet)))
        precondition(decoded.frame == frames)
        precondition(decoded.request.map { $0.frame < frames && $0.latency > 0 } ?? true)
        for layer in decoded.layers {
            precondition(!layer.name.isEmpty)
            precondition(layer.problem == nil || layer.message == nil)
            _ = layer.fields
        }
        let note = MonitorOpcode(rawValue: UInt16(head & 31))
        let reported = dissector.dissect(Record(time: time, content: .note(note, packet)))
        frames += 1
        precondition(!reported.top.name.isEmpty)
        _ = reported.top.fields
        statistics.add(decoded)
    }
    precondition(statistics.packets * 2 == frames)
    precondition(statistics.names.values.reduce(0, +) == statistics.packets)
}
