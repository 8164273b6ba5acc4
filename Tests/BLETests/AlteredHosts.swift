import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCISocket

/// The service that the tests of the client use: two characteristics that can be read, written, notified and
/// indicated, and one whose reads require encryption.
enum Sample {
    static let service: BluetoothUUID = 0xfff0
    /// Supports reads, writes, writes without response, notifications and indications.
    static let value: BluetoothUUID = 0xfff1
    static let other: BluetoothUUID = 0xfff2
    static let secret: BluetoothUUID = 0xfff3
}

extension TwoHosts {
    /// Runs `body` with two hosts of which the server advertises the sample, and with the server's port.
    static func altered(
        _ body: @escaping @Sendable (TwoHosts, AlteringPort) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let port = AlteringPort(await bed.air.attach(), on: bed.loop)
            let server = try await bed.adapter("server", on: port)
            let hosts = TwoHosts(bed: bed, server: server, client: try await bed.adapter("client"))
            try await hosts.serveSample()
            try await body(hosts, port)
        }
    }

    /// The loop of both hosts. A concurrent task requires it as its executor: virtual time does not wait for
    /// tasks that run elsewhere.
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

    /// Connects the client to the server of the sample.
    func connect(mtu: ATTMTU = .maximum, raisesSecurity: Bool = true) async throws -> Peripheral {
        var options = ConnectionOptions()
        options.raisesSecurity = raisesSecurity
        options.mtu = mtu
        return try await central.connect(to: try await find(), options: options)
    }
}

/// Returns a rule that drops the responses with this opcode, so that their requests are not answered.
func silencing(_ response: ATTOpcode) -> @Sendable ([UInt8]) -> [[UInt8]] {
    { $0.first == response.rawValue ? [] : [$0] }
}

extension AttributeHandle {
    /// The handle's two octets in the order of transmission.
    var wire: [UInt8] { [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)] }
}
