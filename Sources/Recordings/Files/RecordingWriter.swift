/// Makes a btsnoop file, piece by piece: first `header`, then what `encode` gives for each record.
///
/// ```swift
/// let writer = RecordingWriter(.h4)
/// file.write(writer.header)
/// if let bytes = writer.encode(record) { file.write(bytes) }
/// ```
package struct RecordingWriter: Sendable {
    private let format: BTSnoop

    /// A writer of that datalink: `.h4` for what one host and one controller say, `.monitor` for whole
    /// machines.
    package init(_ datalink: BTSnoopDatalink) { format = BTSnoop(datalink: datalink) }

    /// What the file begins with: 16 octets.
    package var header: [UInt8] { BTSnoopHeader(datalink: format.datalink).encoded }

    /// The octets of one record. nil where the datalink has no place for it: notes exist in monitor files
    /// only, a packet needs its type, and monitors know no events of a host.
    package func encode(_ record: Record) -> [UInt8]? { format.encoded(record) }
}
