import BLE
import BLECore
import HCISocket

/// Measures the time from the connect call to the first value, on an air in this process. A connection begins
/// when the device advertises, here every 20 ms plus a random part of 10 ms; the baseline is this wait alone,
/// in the same run. The air carries link packets at once, so the difference is the hosts' work and round
/// trips.
func measureFirstRead() async throws {
    print("")
    let air = AirServer(on: .shared)
    let server = try await Adapter.open(on: await air.attach(), name: "server")
    let client = try await Adapter.open(on: await air.attach(), name: "client")
    let handle = try await serveTenServices(PeripheralManager(server))
    let (central, address) = (CentralManager(client), await server.address)

    try await median("the next advertisement of a device") {
        _ = try await central.first(within: .seconds(5)) { $0.address == address }
    }
    try await median("connect to first value, one request") {
        try await central.withConnection(to: address) { _ = try await $0.read(handle) }
    }
    try await median("connect to first value, ten services found") {
        let stranger = try await Adapter.open(on: await air.attach(), name: "stranger")
        try await CentralManager(stranger).withConnection(to: address, discoverAndRead)
        await stranger.close()
    }
    try await median("connect to first value, services known") {
        try await central.withConnection(to: address, discoverAndRead)
    }
    await client.close()
    await server.close()
}

private let wanted: BluetoothUUID = 0xb009

private func serveTenServices(_ peripheral: PeripheralManager) async throws -> AttributeHandle {
    try await peripheral.publish((0..<10).map(service))
    var content = AdvertisingContent()
    content.name = "bench"
    var request = AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable))
    request.interval = .milliseconds(20)
    _ = try await peripheral.advertise(request)
    guard let handle = await peripheral.valueHandle(of: wanted) else {
        throw BLEError.notFound(.characteristic(wanted, of: nil))
    }
    return handle
}

private func service(_ number: Int) -> GATTService {
    let offset = UInt16(number)
    return GATTService(
        BluetoothUUID(0xa000 + offset),
        characteristics: [
            GATTCharacteristic(BluetoothUUID(0xb000 + offset), properties: .read, value: [1]),
            GATTCharacteristic(BluetoothUUID(0xc000 + offset), properties: [.read, .notify]),
        ])
}

private func discoverAndRead(_ device: Peripheral) async throws {
    guard let value = try await device.discover().characteristics(wanted).first else {
        throw BLEError.notFound(.characteristic(wanted, of: device.address))
    }
    _ = try await device.read(value)
}

/// Prints the median time of 31 runs of the work.
private func median(_ name: String, _ work: () async throws -> Void) async throws {
    var turns: [Double] = []
    for _ in 0..<31 {
        let start = ContinuousClock.now
        try await work()
        turns.append((ContinuousClock.now - start) / .milliseconds(1))
    }
    line(name, "\((median(turns) * 10).rounded() / 10) ms")
}
