import ATT
import BLECore

/// Reads the values of all attributes of a type (Core Specification 5.4, Vol 3, Part G, 4.8.2). Each is cut
/// at 253 octets, and at 4 less than the MTU; values of different lengths come in different responses.
package struct ReadUsingUUID: WalkingProcedure {
    /// Values, the least handle first; at least one.
    package typealias Output = [RemoteValue]

    var walk: AttributeWalk
    private(set) var result: [RemoteValue] = []

    /// Reads the attributes of type `uuid` in `range`. When there are none, the server's Attribute Not Found
    /// is the error.
    package init(_ uuid: BluetoothUUID, in range: AttributeRange = .all) {
        walk = AttributeWalk(.values(uuid), in: range, endings: [])
    }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        if result.isEmpty { walk.endings = [.attributeNotFound] }
        result.append(RemoteValue(handle: entry.handle, value: Array(entry.value)))
    }
}
