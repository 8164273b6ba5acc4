import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCISocket

/// What the tests of the client use of the server: two characteristics with every property, and one of which
/// the handlers say what they do.
enum Sample {
    static let service: BluetoothUUID = 0xfff0
    /// Reads, writes, commands, notifications and indications.
    static let value: BluetoothUUID = 0xfff1
    static let other: BluetoothUUID = 0xfff2
    /// Needs encryption.
    static let secret: BluetoothUUID = 0xfff3
}

extension TwoHosts {
    /// Two hosts, with the sample on air, of which the server's packets can be meddled with.
    static func meddled(
        _ body: @escaping @Sendable (TwoHosts, MeddledPort) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let port = MeddledPort(await bed.air.attach(), on: bed.loop)
            let server = try await bed.adapter("server", on: port)
            let hosts = TwoHosts(bed: bed, server: server, client: try await bed.adapter("client"))
            try await hosts.serveSample()
            try await body(hosts, port)
        }
    }

    /// The loop of all. A task that is to run beside others needs it as its executor: time does not wait for
    /// those elsewhere.
    var loop: EventLoop { client.loop }

    private func serveSample() async throws {
        let all: CharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify, .indicate]
        try await peripheral.publish([
            GATTService(
                Sample.service,
                characteristics: [
                    GATTCharacteristic(Sample.value, properties: all, value: .stored([1])),
                    GATTCharacteristic(Sample.other, properties: all, value: .stored([2])),
                    GATTCharacteristic(
                        Sample.secret, properties: [.read],
                        permissions: AttributePermissions(read: .encrypted),
                        value: [3]),
                ])
        ])
        var content = AdvertisingContent()
        content.name = "Thermometer"
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        _ = try await peripheral.advertise(AdvertisingRequest(plan), maximumLinks: 1)
    }

    /// A link to the sample.
    func connect(mtu: ATTMTU = .maximum, raisesSecurity: Bool = true) async throws -> Peripheral {
        var options = ConnectionOptions()
        options.raisesSecurity = raisesSecurity
        options.mtu = mtu
        return try await central.connect(to: try await find(), options: options)
    }
}

/// The request with that opcode is answered by none.
func silencing(_ response: ATTOpcode) -> @Sendable ([UInt8]) -> [[UInt8]] {
    { $0.first == response.rawValue ? [] : [$0] }
}

extension AttributeHandle {
    /// The handle's two octets as they go over the air.
    var wire: [UInt8] { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
