import BLE
import BLECore
import HCI
import Recordings

/// A filter for the packets of a recording.
struct PacketFilter {
    /// A point in time of a recording.
    enum Moment: Hashable {
        /// Microseconds since 1970-01-01 00:00 UTC.
        case absolute(Int64)
        /// Microseconds since the recording's first packet.
        case relative(Int64)
    }

    /// The layers of which a packet must have one. An empty collection, here and below, matches all packets;
    /// a packet must match all properties of the filter.
    var layers: Set<DecodedLayer.Layer> = []
    var names: [Glob] = []
    var connections: Set<UInt16> = []
    var addresses: [UInt64] = []
    var handles: Set<UInt16> = []
    var uuids: Set<BluetoothUUID> = []
    var opcodes: Set<UInt16> = []
    var direction: Record.Direction?
    var frames: ClosedRange<Int> = 0...Int.max
    var since: Moment?
    var until: Moment?
    /// Whether only packets with errors pass.
    var isOfErrors = false

    /// Returns whether a packet matches the filter. `start` is the time of the recording's first packet.
    func matches(_ packet: DecodedPacket, start: RecordingTime) -> Bool {
        guard frames.contains(packet.frame), direction == nil || direction == packet.direction else {
            return false
        }
        if since.map({ packet.time < time($0, start) }) ?? false { return false }
        if until.map({ packet.time > time($0, start) }) ?? false { return false }
        if !layers.isEmpty, !packet.layers.contains(where: { layers.contains($0.layer) }) { return false }
        if !names.isEmpty, !names.contains(where: { $0.matches(packet.top.name) }) { return false }
        if !connections.isEmpty {
            guard let connection = packet.connection, connections.contains(connection.rawValue) else {
                return false
            }
        }
        if !handles.isEmpty || !uuids.isEmpty, !matches(packet.attribute) { return false }
        if !opcodes.isEmpty, !opcodes.contains(where: packet.hasOpcode) { return false }
        if !addresses.isEmpty, !addresses.contains(where: packet.concerns) { return false }
        return !isOfErrors || packet.isError
    }

    private func time(_ moment: Moment, _ start: RecordingTime) -> RecordingTime {
        switch moment {
        case .absolute(let microseconds): RecordingTime(microseconds: microseconds)
        case .relative(let microseconds):
            RecordingTime(microseconds: start.microseconds &+ microseconds)
        }
    }

    private func matches(_ attribute: DecodedAttribute?) -> Bool {
        guard let attribute else { return false }
        if !handles.isEmpty, !handles.contains(attribute.handle.rawValue) { return false }
        let types = [attribute.uuid, attribute.characteristic, attribute.service].compactMap(\.self)
        return uuids.isEmpty || !uuids.isDisjoint(with: types)
    }
}

extension DecodedPacket {
    /// Whether the packet is malformed, or reports a failure: an ATT error, a status, a failed pairing.
    var isError: Bool { layers.contains { $0.problem != nil } || failure != nil }

    /// Returns whether the packet is from, to or about the device with that address.
    fileprivate func concerns(_ address: UInt64) -> Bool {
        if peer?.value == address { return true }
        let text = DeviceAddress(address, type: .public).text
        return layers.contains { FieldValue.fields($0.fields).mentions(text) }
    }

    /// Returns whether the packet has that number: the opcode of a command, the code of an event or subevent,
    /// the opcode of ATT, or the code of SMP and signaling.
    fileprivate func hasOpcode(_ number: UInt16) -> Bool {
        let bytes = top.bytes
        guard top.layer == .hci, let type = bytes.first else {
            return bytes.first.map { UInt16($0) == number } ?? false
        }
        switch (type, bytes.count) {
        case (1, 3...): return UInt16(bytes[1]) | UInt16(bytes[2]) << 8 == number
        case (4, 4...) where bytes[1] == 0x3e: return number == 0x3e || UInt16(bytes[3]) == number
        case (4, 2...): return UInt16(bytes[1]) == number
        default: return false
        }
    }
}

extension FieldValue {
    /// Returns whether the value contains an address, with or without its type.
    fileprivate func mentions(_ address: String) -> Bool {
        switch self {
        case .text(let text): text.hasPrefix(address)
        case .list(let values): values.contains { $0.mentions(address) }
        case .fields(let fields): fields.all.contains { $0.value.mentions(address) }
        case .described(let value, _): value.mentions(address)
        case .null, .bool, .number: false
        }
    }
}
