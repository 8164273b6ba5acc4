import ATT
import BLECore
import HCI

/// A recording in which a server says something else.
package enum RecordingUpdate {
    /// The records with what `differences` say in place of what was recorded. A PDU that came in several packets
    /// comes in one, one that is not said any more has none, and one that was not said before follows what it
    /// answers.
    package static func records(_ records: [Record], _ differences: [Replay.Difference]) -> [Record] {
        let byFrame = Dictionary(grouping: differences, by: \.frame)
        var updated: [Record] = []
        var dissector = Dissector()
        /// Where the fragments are of frames that are not whole yet.
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
        // What was not recorded goes the other way than what it answers.
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
