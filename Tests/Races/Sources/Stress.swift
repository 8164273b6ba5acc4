import BLE
import Glibc
import VirtualController

/// The actions of applications. Each can be cancelled at any moment.
enum Action: CaseIterable {
    case scan, first, connect, read, write, subscribe, update, advertise, events, states, bonds, openAndClose
    case suspend, chain, command, restore, maintain, tryUpdate, request, indicate, changeServices, retrieve
}

/// Two hosts on one air, which many tasks use.
struct Stress: Sendable {
    private let air: AirServer
    private let server: Adapter
    private let client: Adapter
    private let bonds = BondStore()
    private let folder: String
    /// The manager whose streams are suspended and resumed while others begin and end.
    private let shared: CentralManager

    private static let key = CharacteristicKey<[UInt8]>(0xfff1)

    init(seed: UInt64) async throws {
        air = AirServer(on: .shared, seed: seed)
        folder = "/tmp/races-\(getpid())"
        server = try await Adapter.open(on: await air.attach(), name: "server")
        client = try await Adapter.open(on: await air.attach(), name: "client")
        shared = CentralManager(client)
        let manager = PeripheralManager(server)
        try await manager.publish([
            GATTService(0xfff0) {
                GATTCharacteristic(
                    0xfff1, properties: [.read, .write, .writeWithoutResponse, .notify, .indicate],
                    value: .stored([1]))
            }
        ])
        var content = AdvertisingContent()
        content.name = "Stress"
        _ = try await manager.advertise(
            AdvertisingRequest(AdvertisingPlan(content, kind: .connectable), preset: .lowLatency),
            maximumLinks: 8)
    }

    /// Performs an action, and cancels it after `limit`. Returns whether it ended without an error.
    func perform(_ action: Action, cancelledAfter limit: Duration, _ number: UInt64) async -> Bool {
        let task = Task { try await perform(action, number) }
        let timer = Task {
            try await Task.sleep(for: limit)
            task.cancel()
        }
        defer { timer.cancel() }
        if case .success = await task.result { return true }
        return false
    }

    private func perform(_ action: Action, _ number: UInt64) async throws {
        let (central, peripheral) = (CentralManager(client), PeripheralManager(server))
        switch action {
        case .scan: for try await _ in central.scan() {}
        case .first: _ = try await central.first(within: .seconds(1)) { $0.name == "Stress" }
        case .connect: try await link(central) { _ in }
        case .read: try await link(central) { _ = try await $0.read(Self.key) }
        case .write:
            try await link(central) { device in
                for _ in 0..<10 { try await device.write([2], to: Self.key, type: .withoutResponse) }
            }
        case .subscribe:
            try await link(central) { device in
                for try await _ in try await device.values(of: Self.key) {}
            }
        case .update:
            guard let handle = await peripheral.valueHandle(of: 0xfff1) else { return }
            for octet in 0..<20 { try await peripheral.update(handle, to: [UInt8(octet)]) }
        case .advertise:
            var content = AdvertisingContent()
            content.name = "Other \(number % 3)"
            try await peripheral.withAdvertising(content, kind: .nonconnectable) {
                try await Task.sleep(for: .milliseconds(50))
            }
        case .events: for try await _ in peripheral.events() {}
        case .states: for try await _ in central.states() {}
        case .bonds: try await useBonds(number)
        case .openAndClose:
            let adapter = try await Adapter.open(on: await air.attach(), name: "guest")
            let scan = Task { for try await _ in CentralManager(adapter).scan() {} }
            try? await Task.sleep(for: .milliseconds(5))
            await adapter.close()
            _ = await scan.result
        case .suspend:
            let (scan, events) = (shared.scan(), shared.connectionEvents())
            shared.suspend()
            try? await Task.sleep(for: .milliseconds(5))
            shared.resume()
            for try await _ in scan { break }
            for try await _ in events { break }
        case .chain:
            let channel = central.channel("stress \(number % 3)")
            let listening = Task { for try await _ in channel.events() {} }
            defer { listening.cancel() }
            let levels = try await channel.scan { $0.name = "Stress" }.within(.seconds(1)).each(2) {
                (device) throws(BLEError) in try await device.read(Self.key)
            }
            for value in levels.values { _ = try value.get() }
        case .command: try await link(central, command)
        case .restore: try await restore(number)
        case .maintain:
            for try await device in central.maintain(Peripheral.Identifier(await server.address)) {
                _ = try await device.read(Self.key)
                await device.disconnect()
            }
        case .tryUpdate:
            guard let handle = await peripheral.valueHandle(of: 0xfff1) else { return }
            for octet in 0..<200 as Range<UInt8> {
                guard try await !peripheral.tryUpdate(handle, to: [octet]) else { continue }
                try await peripheral.readyToUpdate(handle)
            }
        case .request:
            try await link(central) { device in
                for octet in 0..<10 as Range<UInt8> { try await device.write([octet], to: Self.key) }
            }
        case .indicate:
            try await link(central) { device in
                let characteristic = try await device.characteristic(Self.key)
                for try await _ in try await device.values(of: characteristic, indications: true) {}
            }
        case .changeServices: try await changeServices(peripheral, number)
        case .retrieve: try await retrieve(central)
        }
    }

    private func command(_ device: Peripheral) async throws {
        guard let value = try await device.discover().characteristics(0xfff1).first else { return }
        let channel = device.commandChannel(writing: value, answers: value)
        for octet in 0..<8 { try channel.enqueue([UInt8(octet)]) }
        try await channel.send([8])
        for try await _ in channel.answers { break }
    }

    /// Adds a service, and removes it even if the task is cancelled in between.
    private func changeServices(_ peripheral: PeripheralManager, _ number: UInt64) async throws {
        let added = try await peripheral.add([
            GATTService(BluetoothUUID(0xffe0 + UInt16(number % 8))) {
                GATTCharacteristic(0xffd0, properties: [.read, .notify], value: .stored([1]))
            }
        ])
        try? await Task.sleep(for: .milliseconds(5))
        if let handle = added?.start { try await peripheral.removeService(at: handle) }
    }

    private func retrieve(_ central: CentralManager) async throws {
        let id = Peripheral.Identifier(await server.address)
        for _ in 0..<20 {
            _ = await central.retrievePeripherals(withIdentifiers: [id])
            _ = try await central.retrieveConnectedPeripherals(withServices: [0xfff0])
            _ = await central.retrieveKnownPeripherals()
        }
    }

    /// Opens a manager that keeps its state on the disk, and restores the state of the last one with the same
    /// name.
    private func restore(_ number: UInt64) async throws {
        let adapter = try await Adapter.open(on: await air.attach(), name: "guest")
        do {
            let central = try await CentralManager(adapter, restoring: "stress-\(number % 5)", in: folder)
            let scan = central.scan()
            let id = Peripheral.Identifier(await server.address)
            let device = try await central.connect(to: id, timeout: .seconds(1))
            let values = try await device.values(of: Self.key)
            _ = try await device.read(Self.key)
            withExtendedLifetime((scan, values)) {}
            try await central.dismissRestored()
        } catch {
            await adapter.close()
            throw error
        }
        await adapter.close()
    }

    private func link(
        _ central: CentralManager, _ body: (Peripheral) async throws -> Void
    ) async throws {
        try await central.withConnection(to: await server.address, body)
    }

    private func useBonds(_ number: UInt64) async throws {
        let shared = try await BondStore.open(folder)
        let peer = DeviceAddress(0xc0_00_00_00_00_00 | number % 16, type: .random)
        var bond = Bond(
            with: peer, as: await server.address,
            PairingStrength(isAuthenticated: true, isSecureConnections: true))
        bond.centralKey = LongTermKey(UInt128(number))
        for store in [bonds, shared] {
            try store.insert(bond)
            _ = store.records()
            _ = store.record(behind: peer, at: bond.local)
            try await store.flush()
            if number % 2 == 0, let id = store.records().first?.id { store.remove(id) }
        }
    }

    func close() async {
        await client.close()
        await server.close()
        await air.close()
        removeFolder()
    }

    /// Uses `rm`, because FileManager requires Foundation, whose threads are not under test. The process is
    /// spawned, not forked: in a fork of a process with many threads, the sanitizer's locks may stay locked.
    private func removeFolder() {
        let words: [String] = ["rm", "-rf", folder]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/bin/rm", nil, nil, arguments, nil) == 0 else { return }
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }
}
