import BLE

/// Samples of the module BLE, as far as they are about the peripheral role.
struct PeripheralSamples {
    let adapter: Adapter
    let peripheral: PeripheralManager

    // swift-format-ignore
    func advertise(
        plan: AdvertisingPlan, beaconPlan: AdvertisingPlan, newBeaconPlan: AdvertisingPlan
    ) async throws {
        // Sources/BLE/Advertising/AdvertisingRequest.swift
        let service = try await peripheral.advertise(AdvertisingRequest(plan), maximumLinks: 2)
        var request = AdvertisingRequest(beaconPlan, kind: .nonconnectable, preset: .background)
        request.duration = .seconds(600)
        let beacon = try await peripheral.advertise(request)  // beside the service
        print(await beacon.power ?? 0)                        // dBm, as the controller has chosen
        request.plan = newBeaconPlan
        try await beacon.update(request)                      // without a gap
        print(try await beacon.ended())                       // "its time is over"
        // .
        handle(service)
    }

    func advertise(extendedPlan: AdvertisingPlan, next: [UInt8]) async throws {
        // Sources/BLE/Advertising/Periodic/PeriodicAdvertisingTrain.swift
        var request = AdvertisingRequest(extendedPlan, kind: .nonconnectable)
        request.periodic = PeriodicAdvertisingTrain([0x03, 0xff, 0xff, 0xff], every: .milliseconds(100))
        let advertising = try await peripheral.advertise(request)
        request.periodic?.data = next
        try await advertising.update(request)  // without a gap
        // .
    }

    func serve(content: AdvertisingContent) async throws {
        // Sources/BLE/Peripheral/PeripheralManager.swift
        let peripheral = PeripheralManager(try await Adapter.open(.virtual(name: "kitchen")))
        try await peripheral.publish([
            GATTService(0x1809, characteristics: [GATTCharacteristic(0x2a6e, properties: [.read, .notify])])
        ])
        try await peripheral.withAdvertising(content) {
            for try await event in peripheral.events() { print(event) }
        }
        // .
    }

    func serveUART(manager: PeripheralManager) async throws {
        // Sources/BLE/Peripheral/Ready/UARTServer.swift
        let uart = try await manager.serveUART()
        for try await (central, octets) in uart.received { _ = try await uart.send(octets, to: central) }
        // .
    }

    func restore(request: AdvertisingRequest, measure: @escaping @Sendable () -> [UInt8]) async throws {
        // Sources/BLE/Restoration/Peripheral/RestoredPeripheralState.swift
        let manager = try await PeripheralManager(adapter, restoring: "sensor")
        try await manager.publish([
            GATTService(0xfff0) {
                // What was written last, else 60.
                GATTCharacteristic(0xfff1, properties: [.read, .write], value: .stored([60]))
                GATTCharacteristic(0xfff2, properties: .read, onRead: { _ in .value(measure()) })
            }
        ])
        if manager.restored.advertising.isEmpty { _ = try await manager.advertise(request) }
        // .
    }
}
