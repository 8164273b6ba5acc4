import BLE

private func read() async -> Passkey? { nil }

/// Samples of the module BLE, as far as they are about adapters, links and bonds.
struct BLESamples {
    let adapter: Adapter

    func open() async throws {
        // Sources/BLE/Adapter/Adapter.swift
        let adapter = try await Adapter.open(.virtual(name: "kitchen"))
        let central = CentralManager(adapter)
        for try await found in central.scan() { print(found.name ?? "-", found.rssi ?? 0) }
        // .
    }

    func command() async throws {
        // Sources/BLE/Adapter/Adapter+VendorCommands.swift
        let answer = try await adapter.sendVendorCommand(0x001, [0x0a])
        // .
        handle(answer)
    }

    func changes() async throws {
        // Sources/BLE/Adapter/AdapterChanges.swift
        for try await change in try await Adapter.changes() { print(change) }
        // .
    }

    func faults(address: StreamAddress) async throws {
        // Sources/BLE/Adapter/TransportFault.swift
        var options = AdapterOptions()
        options.transportFaults = [.delay(.milliseconds(5) ... .milliseconds(40)), .loss(0.01)]
        let adapter = try await Adapter.open(.stream(address), options: options)
        // .
        handle(adapter)
    }

    func main() async throws {
        // Sources/BLE/Adapter/withAdapter.swift
        try await withAdapter(.virtual(name: "kitchen")) { adapter in
            for try await found in CentralManager(adapter).scan() { print(found) }
        }
        // .
    }

    func serveAir(loop: EventLoop) async throws {
        // Sources/BLE/Air/AirServer.swift
        let air = AirServer(on: loop)
        let options = AdapterOptions(loop: loop)
        let one = try await Adapter.open(on: await air.attach(), options: options)
        let two = try await Adapter.open(on: await air.attach(), options: options)
        // .
        handle((one, two))
    }

    func test(plan: AdvertisingPlan) async throws {
        // Sources/BLE/Air/VirtualTestbed.swift
        try await VirtualTestbed.run { bed in
            let sensor = PeripheralManager(try await bed.adapter("sensor"))
            let phone = CentralManager(try await bed.adapter("phone"))
            _ = try await sensor.advertise(AdvertisingRequest(plan))
            print(try await phone.first(within: .seconds(5)) { $0.name == "Thermometer" })
        }
        // .
    }

    func store() async throws {
        // Sources/BLE/Bonds/BondStore.swift
        let bonds = try await BondStore.open("/var/lib/thermometer")
        var options = AdapterOptions()
        options.security.bonds = bonds
        let adapter = try await Adapter.open(.kernel(.index(0)), options: options)
        // .
        handle(adapter)
    }

    func state(show: (ManagerState) -> Void) async {
        var adapter = adapter
        // Sources/BLE/Central/State/ManagerState.swift
        do { adapter = try await Adapter.open(.kernel(.index(0))) } catch { show(error.managerState) }
        // .
        handle(adapter)
    }

    func write(_ value: [UInt8], device: Peripheral, characteristic: RemoteCharacteristic) async throws {
        // Sources/BLE/Errors/BLEError.swift
        do {
            try await device.writeWithoutResponse(value, to: characteristic)
        } catch .limit(.value, let maximum, _) {
            // The value has more octets than the MTU allows.
            try await device.writeWithoutResponse(Array(value.prefix(maximum)), to: characteristic)
        }
        // .
    }

    func link(peripheral: Peripheral) async throws {
        // Sources/BLE/Link/Connection.swift
        let connection = peripheral.connection
        let now = try await connection.setParameters(.init(interval: .milliseconds(30) ... .milliseconds(50)))
        print(now.interval as Any, try await connection.rssi() as Any)
        // .
    }

    func health() async throws {
        // Sources/BLE/Recovery/Adapter+Recovery.swift
        for try await event in adapter.health() { print(event) }
        // .
    }

    func delegate() {
        // Sources/BLE/Security/PairingDelegate.swift
        struct Keypad: PairingDelegate {
            let ioCapability = IOCapability.keyboardOnly
            func enterPasskey(for peer: DeviceAddress) async -> Passkey? { await read() }
        }
        // .
        handle(Keypad())
    }
}
