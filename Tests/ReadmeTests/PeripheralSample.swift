import BLE

func runPeripheralSample() async {
    // README:
    do {
        let peripheral = PeripheralManager(try await Adapter.open(.virtual(name: "kitchen")))
        try await peripheral.publish([
            GATTService(
                0x1809,
                characteristics: [
                    GATTCharacteristic(0x2a6e, properties: [.read, .notify], value: .stored([0xb2, 0x08])),
                    GATTCharacteristic(
                        0x2a21, properties: [.read, .write], value: .stored([60, 0]),
                        onWrite: { request in
                            guard request.value.count == 2 else { throw ATTErrorCode.valueNotAllowed }
                            return .accept
                        }),
                ])
        ])
        var content = AdvertisingContent()
        content.name = "Thermometer"
        content.services = [0x1809]
        try await peripheral.withAdvertising(content) {
            for try await event in peripheral.events() { print(event) }
        }
    } catch {
        print("failed: \(error)")
    }
    // README.
}
