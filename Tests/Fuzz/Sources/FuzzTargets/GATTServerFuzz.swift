import ATT
import BLECore
import GATT
import GATTServer

/// For any PDUs of a central, the link stays open, each request has exactly one response of its kind within
/// the MTU, and no response contains values that the central may not read. Services are added and removed in
/// between. The input is PDUs, each after an octet that has its length. A length of 255 changes the database.
public func fuzzGATTServer(_ bytes: Span<UInt8>) {
    let central = ClientID(rawValue: 1)
    var server = GATTServer(database)
    var connection = GATTConnection(central)
    server.connect(central)
    var input = ByteReader(bytes, of: "fuzz input")
    var added: [AttributeHandle] = []
    while let length = try? input.u8("length") {
        if length == 0xff {
            change(&server, &added)
            connection.servicesChanged()
            while connection.nextEvent(serving: &server) != nil {}
            precondition(frames { connection.nextFrame(into: &$0, at: .zero) }.count <= 1)
            continue
        }
        let frame = (try? input.bytes(min(Int(length), input.remaining), "PDU")) ?? []
        connection.receive(frame.span, at: .zero)
        while let event = connection.nextEvent(serving: &server) {
            switch event {
            case .mtu: break
            default: preconditionFailure("\(event)")
            }
        }
        while let event = connection.session.nextEvent() {
            guard case .value = event else { preconditionFailure("\(event)") }
        }
        while server.nextEvent() != nil {}
        // An indication of Service Changed may follow a write or a confirmation.
        let answers = frames { connection.nextFrame(into: &$0, at: .zero) }
            .filter { $0.first != ATTOpcode.handleValueIndication.rawValue }
        precondition(connection.closure == nil)
        guard let opcode = frame.first.map({ ATTOpcode($0) }) else { continue }
        let isRequest = opcode.kind == .request || opcode.kind == nil && !opcode.isCommand
        if opcode == .handleValueIndication {
            precondition(answers == [[0x1e]])
        } else {
            precondition(answers.count == (isRequest ? 1 : 0))
            for answer in answers { check(answer, to: opcode, connection.mtu) }
        }
    }
    precondition(server.database.attributes.allSatisfy { $0.value.count <= $0.length.maximum })
}

/// Adds a service, up to three of them, then removes them.
private func change(_ server: inout GATTServer, _ added: inout [AttributeHandle]) {
    if added.count < 3 {
        let service = GATTService(
            0xff20, characteristics: [GATTCharacteristic(0xff21, properties: [.read, .write, .notify])])
        guard let range = try? server.add([service]) else { preconditionFailure("no room for a service") }
        added.append(range.start)
    } else {
        for handle in added { precondition((try? server.remove(handle)) != nil) }
        added = []
    }
    let hash = server.database.valueHandle(of: .databaseHash).flatMap { server.database[$0]?.value }
    precondition(hash == server.database.hash)
}

private func check(_ answer: [UInt8], to opcode: ATTOpcode, _ mtu: ATTMTU) {
    precondition(answer.count <= mtu.octets)
    guard let response = try? ATTResponse(answer) else { preconditionFailure("a malformed response") }
    if case .error(let error) = response {
        precondition(error.requestOpcode == opcode)
    } else {
        precondition(response.opcode.rawValue == opcode.rawValue + 1)
    }
    // Only the response to a prepared write contains this many octets that a client has chosen.
    guard opcode != .prepareWriteRequest else { return }
    for start in 0...(secret.count - 12) {
        let run = secret[start..<(start + 12)]
        precondition(!answer.indices.contains { answer[$0...].starts(with: run) })
    }
}

/// All octets differ. A client can write 8 and 3 octets where it can read them, so it cannot assemble 12
/// consecutive ones of these.
private let secret = [UInt8](0xa0..<0xb2)

private let database: AttributeDatabase = {
    let locked = AttributePermissions(read: .encrypted)
    let services = [
        GATTService(
            0x180f,
            characteristics: [
                GATTCharacteristic(
                    0x2a19, properties: [.read, .write, .writeWithoutResponse, .notify],
                    length: .variable(max: 8)),
                GATTCharacteristic(0xff01, properties: .read, permissions: locked, value: .cached(secret)),
                GATTCharacteristic(0xff02, properties: .write, value: .stored(secret)),
                GATTCharacteristic(0xff03, properties: [.read, .write, .indicate], length: .fixed(3)),
            ]),
        GATTService(
            0xff10, isPrimary: false, handle: 0x0100, includes: [.uuid(0x180f)],
            characteristics: [
                GATTCharacteristic(
                    BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e), properties: .read,
                    onRead: { .value([UInt8](repeating: 1, count: 300 + $0.offset % 2)) })
            ]),
    ]
    do {
        return try AttributeDatabase(services)
    } catch {
        preconditionFailure("\(error)")
    }
}()
