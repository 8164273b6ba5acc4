import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCISocket
import VirtualController

/// Two hosts on one air in one process, under virtual time: minutes pass in milliseconds, and every run is
/// the same.
struct TwoHosts: Sendable {
    let bed: VirtualTestbed
    let server: Adapter
    let client: Adapter

    /// Runs `body` with two hosts on one loop, whose controllers support the extended commands or not.
    static func run(
        serverExtended: Bool = false, clientExtended: Bool = false,
        _ body: @escaping @Sendable (TwoHosts) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let server = try await bed.host("server", extended: serverExtended)
            let client = try await bed.host("client", extended: clientExtended)
            try await body(TwoHosts(bed: bed, server: server, client: client))
        }
    }

    var air: AirServer { bed.air }
    var peripheral: PeripheralManager { PeripheralManager(server) }
    var central: CentralManager { CentralManager(client) }

    /// Publishes and advertises a thermometer whose values can be read, written, notified or indicated.
    func serveThermometer(maximumLinks: Int = 1) async throws -> Advertising {
        try await peripheral.publish([
            GATTService(
                0x1809,
                characteristics: [
                    GATTCharacteristic(0x2a6e, properties: [.read, .notify], value: .stored([0xb2, 0x08])),
                    GATTCharacteristic(0x2a1c, properties: .indicate),
                    GATTCharacteristic(0x2a21, properties: [.read, .write], value: .stored([60, 0])),
                    GATTCharacteristic(
                        0x2a9f, properties: [.read, .write], value: .stored([UInt8](repeating: 7, count: 300))
                    ),
                ])
        ])
        var content = AdvertisingContent()
        content.name = "Thermometer"
        content.services = [0x1809]
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        return try await peripheral.advertise(AdvertisingRequest(plan), maximumLinks: maximumLinks)
    }

    /// Returns the thermometer's address, which a scan finds.
    func find() async throws -> DeviceAddress {
        let found = try await central.first(within: .seconds(5)) { $0.name == "Thermometer" }
        guard let address = found.address else { throw BLEError.notFound(.device(within: nil)) }
        return address
    }

    /// Discovers the services, and returns the first characteristic with this UUID.
    func characteristic(_ uuid: BluetoothUUID, of device: Peripheral) async throws -> RemoteCharacteristic {
        guard let found = try await device.discover().characteristics(uuid).first else {
            throw BLEError.notFound(.device(within: nil))
        }
        return found
    }
}

/// Returns the error that `body` throws; nil if it throws none. Swift 6.3.1 crashes in `#expect(throws:)`
/// around some calls with typed throws, which are therefore tested with this function.
func failure(_ body: () async throws(BLEError) -> Void) async -> BLEError? {
    do throws(BLEError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
