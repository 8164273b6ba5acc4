import BLE
import BLECore
import CProbe
import HCISocket

/// Measures whole hosts on an air in this process: the time of a notification over their links, and the
/// memory of a link.
func measureLinks() async throws -> Figure {
    print("")
    // The first run includes one-time initialization of the process.
    _ = try await measureNotifications(beside: 0)
    let alone = try await measureNotifications(beside: 0)
    line("a notification over a virtual link", "\(Int(alone)) ns", "(\(Int(1e9 / alone)) a second)")
    let busy = try await measureNotifications(beside: 31)
    line(
        "the same, beside 31 links that do nothing", "\(Int(busy)) ns",
        "(\(Int((busy / alone * 100).rounded())) % of that; aim: at most 120)")
    try await measureIdleLinks(32)
    return Figure(what: "a notification beside 31 links", value: busy / alone, aim: 1.2)
}

/// Starts a server on the air that advertises continuously.
private func serve(on air: AirServer, links: Int) async throws -> (PeripheralManager, AttributeHandle) {
    let adapter = try await Adapter.open(on: await air.attach(), name: "server")
    let peripheral = PeripheralManager(adapter)
    try await peripheral.publish([
        GATTService(
            0x1809,
            characteristics: [GATTCharacteristic(0x2a6e, properties: [.read, .notify], value: .stored([0]))])
    ])
    var content = AdvertisingContent()
    content.name = "bench"
    _ = try await peripheral.advertise(
        AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)), maximumLinks: links)
    guard let handle = await peripheral.valueHandle(of: 0x2a6e) else {
        throw BLEError.notFound(.characteristic(0x2a6e, of: nil))
    }
    return (peripheral, handle)
}

/// Returns the time in nanoseconds from `update` to the client's stream for a notification of 20 octets, with
/// `idle` further idle links.
private func measureNotifications(beside idle: Int) async throws -> Double {
    let loop = EventLoop.shared
    let air = AirServer(on: loop)
    let (peripheral, handle) = try await serve(on: air, links: idle + 1)
    let address = await peripheral.adapter.address
    var others: [Adapter] = []
    for _ in 0..<idle {
        let other = try await Adapter.open(on: await air.attach())
        _ = try await CentralManager(other).connect(to: address)
        others.append(other)
    }
    let client = try await Adapter.open(on: await air.attach(), name: "client")
    let spent = try await CentralManager(client).withConnection(to: address) { device in
        guard let value = try await device.discover().characteristics(0x2a6e).first else {
            throw BLEError.notFound(.characteristic(0x2a6e, of: device.address))
        }
        let count = 20_000
        // The buffer holds all values, so a consumer that other programs delay for a moment does not end the
        // stream.
        let values = try await device.values(
            of: value, buffer: .overflow(limit: count, octets: 20 * count))
        let start = ContinuousClock.now
        let sender = Task(executorPreference: loop) {
            for number in 0..<count {
                try await peripheral.update(
                    handle, to: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20))
            }
        }
        var received = 0
        for try await _ in values {
            received += 1
            if received == count { break }
        }
        try await sender.value
        return (ContinuousClock.now - start) / count
    }
    for adapter in others + [client, peripheral.adapter] { await adapter.close() }
    return Double(spent.components.attoseconds) / 1e9
}

/// Prints the memory of each idle link, for the hosts and the simulated controllers of both devices.
private func measureIdleLinks(_ count: Int) async throws {
    let air = AirServer(on: .shared)
    let (peripheral, _) = try await serve(on: air, links: count)
    let address = await peripheral.adapter.address
    var clients: [Adapter] = []
    for _ in 0..<count { clients.append(try await Adapter.open(on: await air.attach())) }
    let before = probe_live_octets()
    for client in clients { _ = try await CentralManager(client).connect(to: address) }
    let after = probe_live_octets()
    let each = Int(after - before) / count
    print("memory of an idle link, both ends and the air".padded(46), "\(each) octets".leftPadded(10))
    print("so one end of it, at most".padded(46), "\(each / 2) octets".leftPadded(10), "(aim: 8192)")
    for client in clients { await client.close() }
    await peripheral.adapter.close()
}
