/// Encodes a btsnoop file in parts: first `header`, then the result of `encode` for each record.
///
/// ```swift
/// let writer = RecordingWriter(.h4)
/// file.write(writer.header)
/// if let bytes = writer.encode(record) { file.write(bytes) }
/// ```
package struct RecordingWriter: Sendable {
    private let format: BTSnoop

    /// Creates a writer with a datalink: `.h4` for the packets of one host and one controller, `.monitor` for
    /// all adapters of a machine.
    package init(_ datalink: BTSnoopDatalink) { format = BTSnoop(datalink: datalink) }

    /// The 16 octets of the file header.
    package var header: [UInt8] { BTSnoopHeader(datalink: format.datalink).encoded }

    /// Returns the octets of one record; nil if the datalink cannot represent it. Only monitor files contain
    /// notes, a packet must have its type, and monitor files have no representation for events from a host.
    package func encode(_ record: Record) -> [UInt8]? { format.encoded(record) }
}
