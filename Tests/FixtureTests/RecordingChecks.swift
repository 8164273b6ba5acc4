import BLECore
import HCI
import Recordings
import Testing

/// Checks for the recordings of any program.
enum RecordingChecks {
    static func everyRecordIsWrittenAsItWas(_ file: RecordedFile, chunks size: Int) throws {
        let bytes = try file.bytes
        // The datalink is the header's last number.
        let number = bytes[12..<16].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let writer = RecordingWriter(try #require(BTSnoopDatalink(rawValue: number)))
        let written = try file.records(chunks: size).map { try #require(writer.encode($0)) }
        #expect(writer.header + written.joined() == bytes)
    }

    static func everyLayerEncodesAsItWas(_ file: RecordedFile) throws {
        for packet in try file.packets where packet.direction != nil {
            for layer in packet.layers {
                #expect(layer.problem == nil, "\(layer.name) \(layer.bytes.hex)")
                #expect(layer.message?.encoded == layer.bytes, "\(layer.name)")
            }
        }
    }

    /// The return parameters of a command are only octets in its event, so they are checked separately.
    static func everyReturnedValueEncodesAsItWas(_ file: RecordedFile) throws {
        var returned = 0
        for packet in try file.packets {
            guard case .event(let event)? = packet.outer.message as? HCIPacket,
                case .commandComplete(let complete) = try HCIEvent(event),
                let parameters = try complete.returned()
            else { continue }
            returned += 1
            #expect(parameters.encoded == [UInt8](complete.returnParameters.dropFirst()))
        }
        #expect(returned > 0)
    }
}
