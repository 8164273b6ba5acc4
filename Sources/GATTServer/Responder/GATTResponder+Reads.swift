import ATT
import BLECore

/// Read, Read Blob, Read Multiple and Read Multiple Variable (Core Specification 5.4, Vol 3, Part F, 3.4.4).
extension GATTResponder {
    /// A value from `offset` on, as far as it fits.
    mutating func read(
        _ handle: AttributeHandle, from offset: Int = 0, _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> [UInt8] {
        let index = try index(of: handle, shared)
        let value = try value(index, offset: offset, &shared)
        guard offset <= value.count else { throw .refused(.invalidOffset, handle) }
        if offset == 0 {
            tellRead(index, value, &shared)
            if value.count <= mtu.readValue { return value }
            longRead = (handle, value)
        }
        return Array(value[offset...].prefix(mtu.readValue))
    }

    mutating func readMultiple(
        _ handles: [AttributeHandle], _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var joined: [UInt8] = []
        joined.reserveCapacity(mtu.readValue)
        for handle in handles {
            let value = try readWhole(handle, &shared)
            joined.append(contentsOf: value.prefix(mtu.readValue - joined.count))
        }
        return .readMultiple(joined)
    }

    mutating func readMultipleVariable(
        _ handles: [AttributeHandle], _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var list = ATTTupleList<ATTLengthValue>(capacity: mtu.readValue)
        for handle in handles {
            list.append(ATTLengthValue(try readWhole(handle, &shared)), limit: mtu.readValue)
        }
        return .readMultipleVariable(list)
    }

    /// Tells the application what was read; declarations, and what GATT itself works by, are the server's own
    /// business.
    func tellRead(_ index: Int, _ value: [UInt8], _ shared: inout GATTServer.Shared) {
        let attribute = shared.database.attributes[index]
        guard attribute.kind != .declaration, attribute.role == nil else { return }
        let handle = shared.database.attributes[index].handle
        let uuid = shared.database.attributes[index].type
        shared.events.append(.read(central: central, handle: handle, uuid: uuid, value: value))
    }

    private mutating func readWhole(
        _ handle: AttributeHandle, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> [UInt8] {
        let index = try index(of: handle, shared)
        let value = try value(index, &shared)
        tellRead(index, value, &shared)
        return value
    }
}
