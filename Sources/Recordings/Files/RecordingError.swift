import BLECore

/// Why a file cannot be read as a recording at all. What is damaged inside a readable one is a
/// `RecordingItem`.
package enum RecordingError: Error, Hashable, Sendable {
    /// It begins with these octets, and no known format does.
    case unknownFormat([UInt8])
    /// Its format's version is not known here.
    case unsupportedVersion(UInt32)
    /// It holds packets of another kind: the datalink of btsnoop, the link type of pcap.
    case unsupportedLinkType(UInt32)
}

extension RecordingError: CustomStringConvertible {
    /// Says in one line what is wrong.
    package var description: String {
        switch self {
        case .unknownFormat([]): "an empty file is no recording"
        case .unknownFormat(let bytes): "neither btsnoop nor pcap nor pcapng: it begins with \(bytes.hex)"
        case .unsupportedVersion(let version): "version \(version) of the format is not known"
        case .unsupportedLinkType(let type): "link type \(type) holds no HCI packets that are known"
        }
    }
}

/// A part of a recording that could not be read.
package struct RecordingDamage: Hashable, Sendable {
    /// Octets from the start of the file to the record that could not be read.
    package var offset: Int
    /// Octets from there to the next good record, or to the end.
    package var skipped: Int
    /// The error found at `offset`.
    package var reason: DecodeError
}

extension RecordingDamage: CustomStringConvertible {
    /// Says in one line what is wrong.
    package var description: String { "damaged at octet \(offset), \(skipped) octets skipped: \(reason)" }
}

/// What a reader finds in a recording, one after another.
package enum RecordingItem: Hashable, Sendable {
    case record(Record)
    /// A part of the file that could not be read.
    case damage(RecordingDamage)
}
