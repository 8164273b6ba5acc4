import BLE

/// Samples of the module GATTServer.
struct GATTServerSamples {
    func publish(_ information: DeviceInformation, by manager: PeripheralManager) async throws {
        // Sources/GATTServer/Description/GATTService.swift
        try await manager.publish([.battery(80), .deviceInformation(information)])
        try await manager.update(.batteryLevel, to: 79)
        // .
    }

    func build(hasName: Bool) {
        // Sources/GATTServer/Description/GATTService.swift
        let service = GATTService(.batteryService) {
            GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100])) {
                GATTDescriptor.userDescription("Main battery")
            }
            if hasName { GATTCharacteristic(0x2a00, properties: .read) }
        }
        // .
        handle(service)
    }

    @Expressions func describeWithKey() {
        // Sources/GATTServer/Description/GATTService.swift
        GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: 80)
        // .
    }

    @Expressions func describe() {
        // Sources/GATTServer/Description/GATTValue.swift
        GATTCharacteristic(.modelNumber, properties: .read, value: .cached(Array("M1".utf8)))
        GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100]))
        // .
    }
}
