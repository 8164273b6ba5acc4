import BLEAdvertising
import BLECore
import Glibc
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests that operations that are started, and cancelled at any moment, leak nothing in thousands of cycles. The
/// test runs in a process of its own, where no other test opens descriptors or allocates memory.
struct CycleTests {
    /// Whether memory is compared as well. The amount that an allocator retains differs between machines, so
    /// `make memory` compares it and `make test` does not.
    private static var measuresMemory: Bool { getenv("BLETOOL_MEASURE_MEMORY") != nil }

    @Test("thousands of connect, use and cancel cycles leak no task, descriptor or memory")
    func cyclesLeakNothing() async {
        await #expect(processExitsWith: .success) {
            try await VirtualTestbed.run { bed in
                var cycles = try await Cycles(bed)
                // Caches, pools and tables have their final size after these cycles.
                try await cycles.run(1000)
                let before = try await cycles.usage()
                try await cycles.run(3000)
                let after = try await cycles.usage()
                #expect(after.descriptors == before.descriptors)
                #expect(after.links == 0 && after.waiters == 0)
                #expect(after.kept == 0)
                if Self.measuresMemory {
                    // One leaked task in each cycle would take ten times as much.
                    #expect(before.memory > 0)
                    #expect(
                        after.memory - before.memory < 512 * 1024,
                        "\(before.memory) to \(after.memory) octets")
                }
                // Both outcomes are among the cycles.
                #expect(cycles.completed > 50 && cycles.cancelled > 1000, "\(cycles)")
            }
        }
    }
}

/// A central and a peripheral whose operations are chosen, and interrupted, at random with a fixed seed.
private struct Cycles {
    let bed: VirtualTestbed
    let central: CentralManager
    /// A manager of the same adapter as `central`, with a file of the state that the next process restores.
    let restoring: CentralManager
    let folder: StateFolder
    let server: PeripheralManager
    let sensor: DeviceAddress
    var random = SplitMix64(seed: 6)
    var completed = 0
    var cancelled = 0

    init(_ bed: VirtualTestbed) async throws {
        self.bed = bed
        server = PeripheralManager(try await bed.adapter("sensor"))
        central = CentralManager(try await bed.adapter("gateway"))
        folder = try StateFolder()
        restoring = try await CentralManager(central.adapter, restoring: "gateway", in: folder.path)
        sensor = await server.adapter.address
        try await server.publish([
            GATTService(0xfff0) {
                GATTCharacteristic(
                    0xfff1, properties: [.read, .write, .writeWithoutResponse, .notify],
                    value: .stored([UInt8](repeating: 7, count: 300)))
            }
        ])
        var content = AdvertisingContent()
        content.name = "Sensor"
        let plan = try AdvertisingPlan(content, kind: .connectable)
        _ = try await server.advertise(AdvertisingRequest(plan), maximumLinks: 2)
    }

    mutating func run(_ count: Int) async throws {
        for _ in 0..<count {
            let choice = random.next() % 13
            let task = Task(executorPreference: bed.loop) {
                [central, restoring, server, sensor] in
                try await choice < 9
                    ? Self.use(central, server, sensor, choice)
                    : Self.useMore(central, restoring, server, Peripheral.Identifier(sensor), choice)
            }
            // A whole cycle takes about a second.
            await bed.wait(.milliseconds(Int64(random.next() % 1200)))
            let beginning = bed.loop.now
            task.cancel()
            switch await task.result {
            case .success: completed += 1
            case .failure: cancelled += 1
            }
            // At most 1 s for pending procedures, 10 s for unsent packets, and 5 s for the controller to end the link.
            let taken = beginning.duration(until: bed.loop.now)
            #expect(taken <= .seconds(16), "kind \(choice), after cycle \(completed + cancelled)")
            // The server detects the end a little later.
            await bed.wait(.seconds(5))
            let isLeft = await bed.isRadioInUse(by: central.adapter)
            #expect(!isLeft, "after cycle \(completed + cancelled)")
        }
    }

    private static func use(
        _ central: CentralManager, _ server: PeripheralManager, _ sensor: DeviceAddress, _ choice: UInt64
    ) async throws {
        switch choice {
        case 0:
            let absent = DeviceAddress(0xc0_00_00_00_00_01, type: .random)
            try await central.withConnection(to: absent, timeout: nil) { _ in }
        case 1:
            _ = try await central.first(within: .seconds(1)) { $0.name == "Absent" }
        case 2:
            for try await _ in central.maintain(Peripheral.Identifier(sensor)) {}
        case 3:
            let chain = central.channel("sensors").scan { $0.name = "Sensor" }.within(.seconds(1))
            _ = try await chain.connect().read(CharacteristicKey<[UInt8]>(0xfff1))
        case 4:
            central.suspend()
            defer { central.resume() }
            for try await _ in central.scan() {}
        default:
            try await central.withConnection(to: sensor) { device in
                let key = CharacteristicKey<[UInt8]>(0xfff1)
                switch choice {
                case 5:
                    _ = try await device.read(key)
                    try await device.write([UInt8](repeating: 1, count: 400), to: key)
                case 6:
                    for try await _ in try await device.values(of: key) {}
                case 7:
                    let found = try await device.discover().characteristics(0xfff1)
                    guard let value = found.first else { return }
                    let channel = device.commandChannel(writing: value, answers: value)
                    try await channel.send([1])
                    for try await _ in channel.answers {}
                default:
                    for _ in 0..<40 { try await device.write([1, 2, 3], to: key, type: .withoutResponse) }
                    await server.adapter.endLinks()
                    _ = try await device.read(key)
                }
            }
        }
    }

    /// Performs the cycles with an advertisement, with a manager whose requests are stored on disk, or with a pairing.
    private static func useMore(
        _ central: CentralManager, _ restoring: CentralManager, _ server: PeripheralManager,
        _ sensor: Peripheral.Identifier, _ choice: UInt64
    ) async throws {
        let key = CharacteristicKey<[UInt8]>(0xfff1)
        switch choice {
        case 9:
            var content = AdvertisingContent()
            content.name = "Gateway"
            let manager = PeripheralManager(central.adapter)
            try await manager.withAdvertising(content) {
                for try await _ in manager.events() {}
            }
        case 10:
            let device = try await restoring.connect(to: sensor)
            do {
                for try await _ in try await device.values(of: key) {}
            } catch {
                await device.disconnect()
                throw error
            }
            await device.disconnect()
        case 11:
            try await central.withConnection(to: sensor.address) { device in
                _ = try await device.pair()
                try await server.adapter.removeBond(with: await central.adapter.address)
                try await central.adapter.removeBond(with: sensor.address)
            }
        default:
            for try await device in restoring.maintain(sensor) {
                for try await _ in restoring.scan() { break }
                _ = try await device.read(key)
            }
        }
    }

    struct Usage {
        var descriptors = 0
        var links = 0
        var waiters = 0
        /// The number of links and scans that the next process would restore.
        var kept = 0
        var memory = 0
    }

    /// The resident pages of this process: the second number in `/proc/self/statm` (proc(5)).
    private static var residentPages: Int {
        let file = open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = read(file, &text, text.count)
        let words = text.prefix(max(count, 0)).split(separator: UInt8(ascii: " "))
        return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
    }

    func usage() async throws -> Usage {
        var usage = Usage()
        let kept = try #require(restoring.restoration?.kept)
        // Changes are written in the background. After this call no file is open for them.
        try await kept.flush()
        usage.kept = kept.value.links.count + kept.value.scans.count
        for adapter in [central.adapter, server.adapter] {
            usage.links += await adapter.linkCount
            usage.waiters += await adapter.waiting
        }
        if let folder = opendir("/proc/self/fd") {
            while readdir(folder) != nil { usage.descriptors += 1 }
            closedir(folder)
        }
        usage.memory = Self.residentPages * Int(sysconf(Int32(_SC_PAGESIZE)))
        return usage
    }
}

extension Adapter {
    /// The number of tasks that wait for a result of the adapter.
    fileprivate var waiting: Int { waits.keys.count }

    fileprivate func endLinks() async {
        for link in links.map(\.id) { await endLink(link) }
    }
}
