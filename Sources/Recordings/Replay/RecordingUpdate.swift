import ATT
import BLECore
import HCI

/// The update of a recording with different PDUs of a server.
package enum RecordingUpdate {
    /// Returns the records with the PDUs of `differences` in place of the recorded PDUs. A PDU that was
    /// recorded in several packets is replaced by one packet. A PDU that is no longer sent is removed, and a
    /// new PDU follows the packet that it answers.
    package static func records(_ records: [Record], _ differences: [Replay.Difference]) -> [Record] {
        let byFrame = Dictionary(grouping: differences, by: \.frame)
        var updated: [Record] = []
        var dissector = Dissector()
        /// The indices of the fragments of frames that are not complete yet.
        var fragments: [Flow: [Int]] = [:]
        for record in records {
            let packet = dissector.dissect(record)
            updated.append(record)
            guard let connection = packet.connection, let direction = packet.direction,
                case .packet(_, let bytes) = record.content, bytes.first == HCIPacketType.acl.rawValue
            else { continue }
            let flow = Flow(adapter: packet.adapter, connection: connection, direction: direction)
            fragments[flow, default: []].append(updated.count - 1)
            guard !packet.inner.isEmpty else { continue }
            let places = fragments.removeValue(forKey: flow) ?? []
            for difference in byFrame[packet.frame] ?? [] {
                replace(difference, record, connection, direction, places, in: &updated)
            }
        }
        return updated
    }

    private struct Flow: Hashable {
        let adapter: UInt16
        let connection: ConnectionHandle
        let direction: HCIDirection
    }

    private static func replace(
        _ difference: Replay.Difference, _ record: Record, _ connection: ConnectionHandle,
        _ direction: HCIDirection, _ places: [Int], in records: inout [Record]
    ) {
        // A PDU that was not recorded has the opposite direction of the packet that it answers.
        let isNew = difference.recorded.isEmpty
        let way: HCIDirection = isNew ? direction.opposite : direction
        if !isNew { for place in places.reversed() { records.remove(at: place) } }
        guard !difference.ours.isEmpty else { return }
        let packet = ACLPacket(
            handle: connection,
            boundary: way == .hostToController ? .firstNonFlushable : .firstFlushable,
            data: L2CAPFrame(.att, difference.ours).encoded)
        var new = record
        new.missing = 0
        new.content = .packet(way, HCIPacket.acl(packet).encoded)
        records.append(new)
    }
}

extension HCIDirection {
    fileprivate var opposite: HCIDirection {
        self == .hostToController ? .controllerToHost : .hostToController
    }
}
