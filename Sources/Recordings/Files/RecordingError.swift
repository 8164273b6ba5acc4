import BLECore

/// The reason for which a file cannot be read as a recording. Damage within a readable recording is reported
/// as a `RecordingItem`.
package enum RecordingError: Error, Hashable, Sendable {
    /// The file begins with these octets, which do not match a known format.
    case unknownFormat([UInt8])
    /// The file ends after so many octets, within the header of its format.
    case incompleteHeader(Int)
    /// The version of the format is not supported.
    case unsupportedVersion(UInt32)
    /// The file contains other packets than HCI packets; the value is the datalink of btsnoop or the link
    /// type of pcap.
    case unsupportedLinkType(UInt32)
}

extension RecordingError: CustomStringConvertible {
    /// A description of the problem in one line.
    package var description: String {
        switch self {
        case .unknownFormat([]): "an empty file is no recording"
        case .unknownFormat(let bytes): "neither btsnoop nor pcap nor pcapng: it begins with \(bytes.hex)"
        case .incompleteHeader(let count): "the file ends after \(count) octets, within its header"
        case .unsupportedVersion(let version): "version \(version) of the format is not known"
        case .unsupportedLinkType(let type):
            "link type \(type) holds no HCI packets that are known"
                + (PcapLinkType.others[type].map { ": it is of \($0)" } ?? "")
        }
    }
}

/// A part of a recording that could not be read.
package struct RecordingDamage: Hashable, Sendable {
    /// The offset of the unreadable record from the start of the file, in octets.
    package var offset: Int
    /// The number of octets from there to the next valid record, or to the end of the file.
    package var skipped: Int
    /// The error found at `offset`.
    package var reason: DecodeError
    /// Whether the file ends within the record at `offset`, as a file does that was copied while it grew.
    package var isCutOff = false

    /// This damage, if no valid record follows it.
    var atEndOfFile: RecordingDamage {
        var damage = self
        // A complete record can contain too few octets, too; that error is not at the end of the file.
        if case .truncated(_, let available) = reason.reason, reason.offset + available == skipped {
            damage.isCutOff = true
        }
        return damage
    }
}

extension RecordingDamage: CustomStringConvertible {
    /// A description of the problem in one line.
    package var description: String {
        isCutOff
            ? "the file ends within the record at octet \(offset)"
            : "damaged at octet \(offset), \(skipped) octets skipped: \(reason)"
    }
}

/// An item that a reader returns from a recording.
package enum RecordingItem: Hashable, Sendable {
    case record(Record)
    /// A part of the file that could not be read.
    case damage(RecordingDamage)
}
