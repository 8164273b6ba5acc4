import ATT
import BLECore
import GATTServer

/// Databases of about 13, 260 and 10,000 attributes; the first two are those of the peers' figures.
func measureServer(_ meter: inout Meter) {
    for services in [4, 86, 3333] {
        var host = Host(services: services)
        let count = host.server.database.attributes.count
        let read = host.readRequest
        meter.measure("server: a Read Request, \(count) attributes", allocations: 0) {
            host.answer(read.span)
        }
        let write = host.writeCommand
        meter.measure("server: a write, notified, \(count) attributes", allocations: 1) {
            host.answer(write.span)
            host.notify()
        }
    }
}

/// One bearer and one server without any descriptor.
struct Host {
    var server: GATTServer
    var bearer = ATTBearer()
    private let central = CentralID(rawValue: 1)
    private let value: AttributeHandle
    private var output: [UInt8] = []

    init(services: Int) {
        let described = (0..<services).map { number in
            GATTService(
                BluetoothUUID(UInt16(0x4000 + number)),
                characteristics: [
                    GATTCharacteristic(
                        0x2a6e, properties: [.read, .writeWithoutResponse], value: .stored([UInt8](0..<20)))
                ])
        }
        guard let database = try? AttributeDatabase(described), let last = database.attributes.last else {
            preconditionFailure("the database of the benchmark is refused")
        }
        server = GATTServer(database)
        server.connect(central)
        value = last.handle
        output.reserveCapacity(ATTMTU.maximum.octets)
    }

    var readRequest: [UInt8] { ATTRequest.read(value).encoded }
    var writeCommand: [UInt8] { ATTCommand.write(value, value: [UInt8](1...20)).encoded }

    /// Takes a frame as a link does: through bearer, permissions and database, and out again to `send`.
    mutating func answer(_ frame: Span<UInt8>, sending send: (Span<UInt8>) -> Void = { keep($0.count) }) {
        bearer.receive(frame, at: .zero)
        while let event = bearer.nextEvent(serving: central, from: &server) { keep(event) }
        while let event = server.nextEvent() { keep(event) }
        flush(send)
    }

    /// The response to a request.
    mutating func response(to request: [UInt8]) -> [UInt8] {
        var response: [UInt8] = []
        answer(request.span) { response = [UInt8](copying: $0) }
        return response
    }

    /// Sends the stored value to the client.
    mutating func notify() {
        guard let stored = server.database[value]?.value else { return }
        try? bearer.notify(value, value: stored)
        flush { keep($0.count) }
    }

    private mutating func flush(_ send: (Span<UInt8>) -> Void) {
        while true {
            output.removeAll(keepingCapacity: true)
            output.append(addingCapacity: ATTMTU.maximum.octets) { _ = bearer.nextFrame(into: &$0, at: .zero) }
            guard !output.isEmpty else { return }
            send(output.span)
        }
    }
}
