import ATT
import BLECore

/// The requests over a range of handles (Core Specification 5.4, Vol 3, Part F, 3.4.3, 3.4.4.1 and 3.4.4.9).
extension GATTResponder {
    func findInformation(
        _ range: AttributeRange, _ mtu: ATTMTU, _ shared: GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTInformation>(room: mtu.octets - 2)
        for index in try indices(in: range, shared) {
            let handle = shared.database.attributes[index].handle
            let type = AttributeType(shared.database.attributes[index].type)
            guard found.add(ATTInformation(handle: handle, type: type)) else { break }
        }
        return .findInformation(try found.list(range))
    }

    /// Values that the central may not read match nothing, so that matching does not tell them.
    mutating func findByTypeValue(
        _ range: AttributeRange, _ type: BluetoothUUID, _ value: [UInt8], _ mtu: ATTMTU,
        _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTHandlesInformation>(room: mtu.octets - 1)
        for index in try indices(in: range, shared) where shared.database.attributes[index].type == type {
            do throws(Interruption) {
                guard try self.value(index, &shared) == value else { continue }
            } catch {
                guard case .refused = error else { throw error }
                continue
            }
            let handle = shared.database.attributes[index].handle
            let end = shared.database.attributes[index].groupEnd
            guard found.add(ATTHandlesInformation(handle: handle, groupEnd: end)) else { break }
        }
        return .findByTypeValue(try found.list(range))
    }

    /// A value that the central may not read ends the list, and is an error when it is the first.
    mutating func readByType(
        _ range: AttributeRange, _ type: BluetoothUUID, _ mtu: ATTMTU, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTAttributeData>(room: mtu.octets - 2)
        for index in try indices(in: range, shared) where shared.database.attributes[index].type == type {
            let value: [UInt8]
            do throws(Interruption) {
                value = try self.value(index, &shared)
            } catch {
                if case .refused = error, !found.isEmpty { break }
                throw error
            }
            let handle = shared.database.attributes[index].handle
            let entry = ATTAttributeData(handle: handle, value: value.prefix(mtu.readByTypeValue))
            guard found.add(entry) else { break }
            if shared.database.attributes[index].role == .databaseHash { awareness.readHash() }
            tellRead(index, value, &shared)
        }
        return .readByType(try found.list(range))
    }

    func readByGroupType(
        _ range: AttributeRange, _ type: BluetoothUUID, _ mtu: ATTMTU, _ shared: GATTServer.Shared
    ) throws(Interruption) -> ATTResponse {
        var found = Found<ATTGroupData>(room: mtu.octets - 2)
        let indices = try indices(in: range, shared)
        guard type == .primaryService || type == .secondaryService else {
            throw .refused(.unsupportedGroupType, range.start)
        }
        for index in indices where shared.database.attributes[index].type == type {
            let entry = ATTGroupData(
                handle: shared.database.attributes[index].handle,
                groupEnd: shared.database.attributes[index].groupEnd,
                value: shared.database.attributes[index].value.prefix(mtu.readByGroupTypeValue))
            guard found.add(entry) else { break }
        }
        return .readByGroupType(try found.list(range))
    }

    /// Where the attributes of a range are; Invalid Handle when the range is none.
    private func indices(
        in range: AttributeRange, _ shared: GATTServer.Shared
    ) throws(Interruption) -> Range<Int> {
        guard range.isValid else { throw .refused(.invalidHandle, range.start) }
        let start = shared.database.index(atOrAfter: range.start)
        let end = range.end.next.map { shared.database.index(atOrAfter: $0) }
        return start..<(end ?? shared.database.attributes.count)
    }
}

/// The entries of a response while they are found: all of one length, and no more than there is room for.
private struct Found<Entry: ATTEntry> {
    let room: Int
    private var entries: ATTEntryList<Entry>?

    init(room: Int) { self.room = room }

    var isEmpty: Bool { entries == nil }

    /// Adds an entry; false when it has another length or there is no room, and the list ends.
    mutating func add(_ entry: Entry) -> Bool {
        guard let list = entries else {
            entries = ATTEntryList(entry, capacity: room)
            return true
        }
        guard list.bytes.count + list.entryLength <= room else { return false }
        return entries?.append(entry) ?? false
    }

    /// The list, or Attribute Not Found at the start of `range`.
    func list(_ range: AttributeRange) throws(GATTResponder.Interruption) -> ATTEntryList<Entry> {
        guard let entries else { throw .refused(.attributeNotFound, range.start) }
        return entries
    }
}
