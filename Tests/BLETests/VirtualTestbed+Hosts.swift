import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCISocket
import VirtualController

extension VirtualTestbed {
    /// Creates a host on a controller with this configuration.
    func host(
        _ name: String, extended: Bool = false,
        _ change: (inout VirtualController.Configuration) -> Void = { _ in }
    ) async throws -> Adapter {
        try await host(name, on: await port(extended: extended, change))
    }

    /// Creates a host on the controller behind a port.
    func host(
        _ name: String, on port: any PacketPort, security: SecurityOptions = SecurityOptions()
    ) async throws -> Adapter {
        try await adapter(name, on: port, options: AdapterOptions(security: security))
    }

    /// Creates a controller with this configuration, and returns the host's end of it.
    func port(
        extended: Bool = false, _ change: (inout VirtualController.Configuration) -> Void = { _ in }
    ) async -> any PacketPort {
        var configuration = VirtualController.Configuration(extended: extended ? .init() : nil)
        change(&configuration)
        return await air.attach(configuration)
    }

    /// Runs `body` beside the caller, on the loop, so that virtual time waits for it.
    func task<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error>
    {
        Task(executorPreference: loop) { try await body() }
    }
}

extension Adapter {
    /// Serves one characteristic, 0xfff1, with the initial value `value`, and advertises.
    @discardableResult
    func serve(_ value: [UInt8] = [1], maximumLinks: Int = 1) async throws -> Advertising {
        try await publishSample(value)
        return try await advertise(maximumLinks: maximumLinks)
    }

    /// Serves one characteristic, 0xfff1, with the initial value `value`.
    func publishSample(_ value: [UInt8] = [1]) async throws {
        try await PeripheralManager(self).publish([
            GATTService(
                Sample.service,
                characteristics: [
                    GATTCharacteristic(
                        Sample.value, properties: [.read, .write, .notify], value: .stored(value))
                ])
        ])
    }

    /// Starts connectable advertising with the name "peer".
    func advertise(maximumLinks: Int = 1) async throws -> Advertising {
        var content = AdvertisingContent()
        content.name = "peer"
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        return try await PeripheralManager(self).advertise(
            AdvertisingRequest(plan), maximumLinks: maximumLinks)
    }

    /// Connects to another host.
    func connect(
        to other: Adapter, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        try await CentralManager(self).connect(to: await other.address, timeout: timeout, options: options)
    }
}

extension Peripheral {
    /// Discovers and returns the characteristic that `serve` serves.
    func sample() async throws -> RemoteCharacteristic {
        guard let found = try await discover().characteristics(Sample.value).first else {
            throw BLEError.notFound(.device(within: nil))
        }
        return found
    }
}
