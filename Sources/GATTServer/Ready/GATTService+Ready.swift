import ATT
import BLECore

/// Services that are ready to be published.
extension GATTService {
    /// A Battery Service (1.1) with a level, which `PeripheralManager.update(_:to:)` changes.
    ///
    /// ```swift
    /// try await manager.publish([.battery(80), .deviceInformation(information)])
    /// try await manager.update(.batteryLevel, to: 79)
    /// ```
    public static func battery(_ level: BatteryLevel) -> GATTService {
        GATTService(
            .batteryService,
            characteristics: [
                GATTCharacteristic(
                    .batteryLevel, properties: [.read, .notify], value: .stored(level.encoded),
                    length: .fixed(1))
            ])
    }

    /// A Device Information Service (1.1) with what is said.
    public static func deviceInformation(_ information: DeviceInformation) -> GATTService {
        GATTService(
            .deviceInformationService,
            characteristics: information.values.map { characteristic, value in
                GATTCharacteristic(characteristic, properties: .read, value: .cached(value))
            })
    }

    /// A Nordic UART Service: a line in both directions. `received` gets what clients send, on the server's thread, where
    /// it must not block; what is sent to them is the value of `BluetoothUUID.nordicUARTTransmit`.
    /// `PeripheralManager.serveUART()` makes streams of it.
    public static func nordicUART(
        received: (@Sendable (Central, [UInt8]) -> Void)? = nil
    ) -> GATTService {
        GATTService(
            .nordicUARTService,
            characteristics: [
                GATTCharacteristic(
                    .nordicUARTReceive, properties: [.write, .writeWithoutResponse],
                    onWrite: { request in
                        received?(request.central, request.value)
                        return .accept
                    }),
                GATTCharacteristic(.nordicUARTTransmit, properties: .notify),
            ])
    }
}

extension BluetoothUUID {
    /// The UUID of the Nordic UART Service.
    public static let nordicUARTService: BluetoothUUID = 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e
    /// What the device receives: clients write it.
    public static let nordicUARTReceive: BluetoothUUID = 0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e
    /// What the device transmits: clients are notified of it.
    public static let nordicUARTTransmit: BluetoothUUID = 0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e
}

extension CharacteristicKey<[UInt8]> {
    /// What a device with a Nordic UART Service receives.
    public static let nordicUARTReceive = CharacteristicKey(.nordicUARTReceive, in: .nordicUARTService)
    /// What a device with a Nordic UART Service transmits.
    public static let nordicUARTTransmit = CharacteristicKey(.nordicUARTTransmit, in: .nordicUARTService)
}
