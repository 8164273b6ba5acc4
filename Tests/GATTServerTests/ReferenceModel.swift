import ATT
import BLECore
import GATTServer

/// A database as a plain list of rows, and the answers of Core Specification 5.4, Vol 3, Part F, 3.4, written
/// down as directly as possible: slow, with nothing of the server's code in it.
struct ReferenceModel {
    struct Row {
        let handle: Int
        let type: BluetoothUUID
        let value: [UInt8]
        var isReadable = true
        var groupEnd: Int
    }

    var rows: [Row] = []

    /// The octets of the response.
    func answer(_ request: ATTRequest, mtu: Int) -> [UInt8] {
        switch request {
        case .findInformation(let range):
            return list(0x04, range, rows) { row in
                let uuid = octets(of: row.type)
                return (uuid.count == 2 ? 1 : 2, word(row.handle) + uuid)
            } header: {
                [0x05, $0]
            } room: {
                mtu - 2
            }
        case .findByTypeValue(let range, let type, let value):
            let matches = rows.filter { $0.type == BluetoothUUID(type) && $0.isReadable && $0.value == value }
            return list(0x06, range, matches) {
                (0, word($0.handle) + word($0.groupEnd))
            } header: { _ in
                [0x07]
            } room: {
                mtu - 1
            }
        case .readByType(let range, let type):
            let typed = inside(range, rows).filter { $0.type == type.uuid }
            if range.isValid, let first = typed.first, !first.isReadable {
                return error(0x08, first.handle, 0x02)
            }
            return list(0x08, range, Array(typed.prefix(while: \.isReadable))) { row in
                let entry = word(row.handle) + row.value.prefix(min(mtu - 4, 253))
                return (UInt8(entry.count), entry)
            } header: {
                [0x09, $0]
            } room: {
                mtu - 2
            }
        case .readByGroupType(let range, let type):
            let isGroup = type.uuid == .primaryService || type.uuid == .secondaryService
            if range.isValid, !isGroup { return error(0x10, Int(range.start.rawValue), 0x10) }
            return list(0x10, range, rows.filter { $0.type == type.uuid }) { row in
                let entry = word(row.handle) + word(row.groupEnd) + row.value.prefix(min(mtu - 6, 251))
                return (UInt8(entry.count), entry)
            } header: {
                [0x11, $0]
            } room: {
                mtu - 2
            }
        case .read(let handle): return values(0x0a, [handle]) { [0x0b] + $0[0].prefix(mtu - 1) }
        case .readBlob(let handle, let offset):
            return values(0x0c, [handle]) { values in
                guard Int(offset) <= values[0].count else { return error(0x0c, Int(handle.rawValue), 0x07) }
                return [0x0d] + values[0].dropFirst(Int(offset)).prefix(mtu - 1)
            }
        case .readMultiple(let handles):
            return values(0x0e, handles) { [0x0f] + $0.flatMap(\.self).prefix(mtu - 1) }
        case .readMultipleVariable(let handles):
            return values(0x20, handles) { [0x21] + $0.flatMap { word($0.count) + $0 }.prefix(mtu - 1) }
        default: preconditionFailure("the model only reads")
        }
    }

    /// A list response: entries of the first one's kind, in order, while there is room.
    private func list(
        _ opcode: UInt8, _ range: AttributeRange, _ rows: [Row],
        _ entry: (Row) -> (kind: UInt8, octets: [UInt8]),
        header: (UInt8) -> [UInt8], room: () -> Int
    ) -> [UInt8] {
        guard range.isValid else { return error(opcode, Int(range.start.rawValue), 0x01) }
        let entries = inside(range, rows).map(entry)
        guard let first = entries.first else { return error(opcode, Int(range.start.rawValue), 0x0a) }
        var list: [UInt8] = []
        for each in entries {
            if each.kind != first.kind || list.count + each.octets.count > room() { break }
            list += each.octets
        }
        return header(first.kind) + list
    }

    /// All values, or the error of the first that cannot be had.
    private func values(
        _ opcode: UInt8, _ handles: [AttributeHandle], _ answer: ([[UInt8]]) -> [UInt8]
    ) -> [UInt8] {
        var values: [[UInt8]] = []
        for handle in handles.map({ Int($0.rawValue) }) {
            guard let row = rows.first(where: { $0.handle == handle }) else {
                return error(opcode, handle, 0x01)
            }
            guard row.isReadable else { return error(opcode, handle, 0x02) }
            values.append(row.value)
        }
        return answer(values)
    }

    private func inside(_ range: AttributeRange, _ rows: [Row]) -> [Row] {
        rows.filter { $0.handle >= Int(range.start.rawValue) && $0.handle <= Int(range.end.rawValue) }
    }

    private func error(_ opcode: UInt8, _ handle: Int, _ code: UInt8) -> [UInt8] {
        [0x01, opcode] + word(handle) + [code]
    }

    private func word(_ number: Int) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8)] }
}

/// A UUID as a declaration has it.
func octets(of uuid: BluetoothUUID) -> [UInt8] {
    let all = (0..<16).map { UInt8(truncatingIfNeeded: uuid.value >> UInt128(8 * $0)) }
    return uuid.uint16 == nil ? all : Array(all[12..<14])
}
