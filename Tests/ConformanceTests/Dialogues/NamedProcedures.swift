import ATT
import BLECore
import GATT
import GATTClient

/// Begins the procedure of a line `do NAME ARGUMENTS`.
func namedProcedure(
    _ name: String, _ arguments: [String], _ mtu: ATTMTU, in session: inout ClientSession
) throws -> RunningProcedure {
    func run(_ procedure: some GATTProcedure) -> RunningProcedure {
        RunningProcedure(procedure, in: &session)
    }
    let words = Words(name, arguments)
    switch name {
    case "exchange-mtu": return run(ExchangeMTU(mtu))
    case "primary-services" where arguments.isEmpty: return run(DiscoverServices.primary)
    case "primary-services": return run(DiscoverServices.primary(try words.uuid(0)))
    case "secondary-services": return run(DiscoverServices.secondary)
    case "includes": return run(FindIncludedServices(in: try words.range(0)))
    case "characteristics" where arguments.count == 2:
        return run(DiscoverCharacteristics(in: try words.range(0), uuid: try words.uuid(1)))
    case "characteristics": return run(DiscoverCharacteristics(in: try words.range(0)))
    case "descriptors": return run(DiscoverDescriptors(in: try words.range(0)))
    case "everything" where arguments.count == 1:
        return run(DiscoverDatabase(service: try words.uuid(0)))
    case "everything": return run(DiscoverDatabase())
    case "read": return run(ReadValue(try words.handle(0)))
    case "read-long": return run(ReadLongValue(try words.handle(0)))
    case "read-from":
        return run(ReadLongValue(try words.handle(0), from: try words.number(1)))
    case "read-by-uuid" where arguments.count == 2:
        return run(ReadUsingUUID(try words.uuid(0), in: try words.range(1)))
    case "read-by-uuid": return run(ReadUsingUUID(try words.uuid(0)))
    case "read-multiple": return run(ReadMultiple(try words.handles()))
    case "read-multiple-variable": return run(ReadMultipleVariable(try words.handles()))
    case "write": return run(WriteValue(try words.handle(0), try words.octets(1)))
    case "configure":
        let bits = ClientCharacteristicConfiguration(rawValue: UInt16(try words.number(1)))
        return run(WriteValue(try words.handle(0), configuration: bits))
    case "write-long": return run(WriteLongValue(try words.handle(0), try words.octets(1)))
    case "reliable-write":
        let writes = try stride(from: 0, to: arguments.count, by: 2).map {
            (handle: try words.handle($0), value: try words.octets($0 + 1))
        }
        return run(ReliableWrite(writes))
    default: throw CommandError(name, arguments)
    }
}

/// Returns the command of a line `do NAME ARGUMENTS`, or nil if the line begins a procedure.
func namedCommand(_ name: String, _ arguments: [String]) throws -> ATTCommand? {
    let words = Words(name, arguments)
    switch name {
    case "write-without-response": return .write(try words.handle(0), value: try words.octets(1))
    case "signed-write":
        let key = ATTSigningKey(csrk: try words.key(3))
        let counter = UInt32(try words.number(2))
        return key.sign(try words.handle(0), value: try words.octets(1), counter: counter)
    default: return nil
    }
}

/// The arguments of a line, with typed access.
private struct Words {
    let name: String
    let words: [String]

    init(_ name: String, _ words: [String]) {
        self.name = name
        self.words = words
    }

    func uuid(_ index: Int) throws -> BluetoothUUID { try word(index) { try? BluetoothUUID($0) } }

    func handle(_ index: Int) throws -> AttributeHandle { try word(index) { AttributeHandle(hex: $0) } }

    func handles() throws -> [AttributeHandle] { try words.indices.map(handle) }

    func number(_ index: Int) throws -> Int { try word(index) { Int($0) } }

    func key(_ index: Int) throws -> UInt128 { try word(index) { UInt128($0, radix: 16) } }

    func octets(_ index: Int) throws -> [UInt8] { try word(index) { $0 == "-" ? [] : Dialogue.octets($0) } }

    /// Returns a range that has the form `0001-ffff`.
    func range(_ index: Int) throws -> AttributeRange {
        try word(index) { word in
            let ends = word.split(separator: "-").compactMap { AttributeHandle(hex: $0) }
            return ends.count == 2 ? AttributeRange(ends[0], ends[1]) : nil
        }
    }

    private func word<Value>(_ index: Int, _ parse: (String) -> Value?) throws -> Value {
        guard words.indices.contains(index), let value = parse(words[index]) else {
            throw CommandError(name, words)
        }
        return value
    }
}
