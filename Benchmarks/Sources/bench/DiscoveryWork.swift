import ATT
import BLECore
import GATTClient
import GATTServer

/// Measures full discovery of 10 services with 60 characteristics, with client and server in one process and
/// no link between them. A link adds its round trip to each request.
func measureDiscovery(_ meter: inout Meter) {
    let services = (0..<10).map { service in
        GATTService(
            BluetoothUUID(UInt16(0xff00 + service)),
            characteristics: (0..<6).map { number in
                GATTCharacteristic(
                    BluetoothUUID(UInt16(0xfe00 + number)),
                    properties: number == 0 ? [.read, .notify] : .read)
            })
    }
    for mtu in [23, 517] as [UInt16] {
        guard let database = try? AttributeDatabase(services) else { return }
        var server = GATTServer(database)
        let central = ClientID(rawValue: 1)
        server.connect(central)
        var requests = 0
        var found = 0
        func discover() {
            requests = 0
            var procedure = DiscoverDatabase()
            while true {
                guard let step = try? procedure.next(mtu: Int(mtu)) else { return }
                switch step {
                case .done(let database):
                    found = database.services.count
                    return
                case .ask(let request):
                    requests += 1
                    guard
                        case .respond(let response) = server.handle(request, from: central, mtu: ATTMTU(mtu))
                    else { return }
                    try? procedure.receive(response)
                }
            }
        }
        discover()
        precondition(found == 12, "the discovery of the benchmark finds \(found) services")
        meter.measure(
            "discovery of 10 services, MTU \(mtu): \(requests) requests", allocations: 250,
            turns: 200
        ) { discover() }
    }
}
