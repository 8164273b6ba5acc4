import ATT
import BLECore
import GATT
import GATTServer

/// Measures servers with databases of about 13, 260 and 10,000 attributes; the figures of other stacks use
/// the first two sizes.
func measureServer(_ meter: inout Meter) {
    for services in [4, 86, 3333] {
        var host = Host(services: services)
        let count = host.server.database.attributes.count
        let read = host.readRequest
        meter.measure("server: a Read Request, \(count) attributes", allocations: 0) {
            host.answer(read.span)
        }
        let write = host.writeCommand
        // One allocation for the written value, and one for its update.
        meter.measure("server: a write, notified, \(count) attributes", allocations: 2) {
            host.answer(write.span)
            host.notify()
        }
    }
}

/// One connection and one server without a file descriptor.
struct Host {
    var server: GATTServer
    private var connection = GATTConnection(ClientID(rawValue: 1))
    private let value: AttributeHandle
    private var output: [UInt8] = []

    init(services: Int) {
        guard let database = try? AttributeDatabase(Self.services(services)),
            let last = database.attributes.last
        else {
            preconditionFailure("the database of the benchmark is refused")
        }
        server = GATTServer(database)
        server.connect(connection.client)
        guard let value = database.attributes.last(where: { $0.type == 0x2a6e })?.handle, last.handle > value
        else { preconditionFailure("the benchmark's value has no CCCD") }
        self.value = value
        _ = server.handle(ATTRequest.write(last.handle, value: [1, 0]), from: connection.client, mtu: 23)
        output.reserveCapacity(ATTMTU.maximum.octets)
    }

    /// Returns services with one value of 20 octets each.
    static func services(_ count: Int) -> [GATTService] {
        (0..<count).map { number in
            GATTService(
                BluetoothUUID(UInt16(0x4000 + number)),
                characteristics: [
                    GATTCharacteristic(
                        0x2a6e, properties: [.read, .writeWithoutResponse, .notify],
                        value: .stored([UInt8](0..<20)))
                ])
        }
    }

    var readRequest: [UInt8] { ATTRequest.read(value).encoded }
    var writeCommand: [UInt8] { ATTCommand.write(value, value: [UInt8](1...20)).encoded }

    /// Processes a frame as a link does, through bearer, permissions and database, and passes the answer to
    /// `send`.
    mutating func answer(_ frame: Span<UInt8>, sending send: (Span<UInt8>) -> Void = { keep($0.count) }) {
        connection.receive(frame, at: .zero)
        while let event = connection.nextEvent(serving: &server) { keep(event) }
        while let event = server.nextEvent() { keep(event) }
        flush(send)
    }

    /// Returns the response to a request.
    mutating func response(to request: [UInt8]) -> [UInt8] {
        var response: [UInt8] = []
        answer(request.span) { response = [UInt8](copying: $0) }
        return response
    }

    /// Sends the stored value to the client.
    mutating func notify() {
        guard let stored = server.database[value]?.value else { return }
        let delivery = server.delivery(of: [ValueUpdate(value, 0x2a6e, stored)], to: connection.client)
        keep(connection.deliver(delivery))
        while let event = connection.nextEvent(serving: &server) { keep(event) }
        flush { keep($0.count) }
    }

    private mutating func flush(_ send: (Span<UInt8>) -> Void) {
        while true {
            output.removeAll(keepingCapacity: true)
            output.append(addingCapacity: ATTMTU.maximum.octets) {
                _ = connection.nextFrame(into: &$0, at: .zero)
            }
            guard !output.isEmpty else { return }
            send(output.span)
        }
    }
}
