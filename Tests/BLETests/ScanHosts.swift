import BLE
import BLEAdvertising
import BLECore
import HCISocket
import VirtualController

/// A host that scans and whose HCI packets are recorded, and others on the same air, under virtual time.
struct ScanHosts: Sendable {
    let bed: VirtualTestbed
    let scanner: Adapter
    let log: Lock<[String]>

    var air: AirServer { bed.air }
    var central: CentralManager { CentralManager(scanner) }
    var loop: EventLoop { scanner.loop }

    static func run(
        extended: Bool = false, _ configuration: VirtualController.Configuration? = nil,
        _ body: @escaping @Sendable (ScanHosts) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let log = Lock<[String]>([])
            let controller = await bed.air.attach(configuration ?? .init(extended: extended ? .init() : nil))
            let port = TracingPort(controller) { line in log.withLock { $0.append(line) } }
            let scanner = try await bed.adapter("scanner", on: port)
            try await body(ScanHosts(bed: bed, scanner: scanner, log: log))
        }
    }

    /// The commands that the scanner has sent to its controller since the last `forget`, in hex from the opcode on.
    var commands: [String] {
        log.withLock { $0.filter { $0.hasPrefix("-> 01") }.map { String($0.dropFirst(5)) } }
    }

    func forget() { log.withLock { $0 = [] } }

    /// Creates another host, which advertises this name and is connectable.
    func advertiser(named name: String, extended: Bool = false) async throws -> Adapter {
        let other = try await host(named: name, .init(extended: extended ? .init() : nil))
        var content = AdvertisingContent()
        content.name = name
        let plan = try AdvertisingPlan(content, kind: .connectable)
        _ = try await PeripheralManager(other).advertise(AdvertisingRequest(plan), maximumLinks: 1)
        return other
    }

    /// Creates another host on the same air.
    func host(
        named name: String, _ configuration: VirtualController.Configuration
    ) async throws -> Adapter {
        try await bed.adapter(name, controller: configuration)
    }

    /// Returns the advertisements that a scan yields in `time`.
    func receive(_ options: ScanOptions, for time: Duration) async throws -> [Advertisement] {
        let received = Lock<[Advertisement]>([])
        let stream = central.scan(options)
        let listening = Task(executorPreference: loop) {
            for try await found in stream { received.withLock { $0.append(found) } }
        }
        _ = await loop.sleep(for: time)
        listening.cancel()
        _ = await listening.result
        return received.withLock { $0 }
    }
}
