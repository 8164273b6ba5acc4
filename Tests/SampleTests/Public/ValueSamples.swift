import BLE

/// Samples of values, keys and out-of-band data.
struct ValueSamples {
    func uuids() throws {
        // Sources/BLECore/BluetoothUUID.swift
        let service = try BluetoothUUID("6e400001-b5a3-f393-e0a9-e50e24dcca9e")
        let battery = try BluetoothUUID("180f")
        let checkedByTheCompiler: BluetoothUUID = 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e
        // .
        handle([service, battery, checkedByTheCompiler])
    }

    func checksum() {
        // Sources/BLECore/CyclicRedundancyCheck.swift
        let value = [UInt8]("123456789".utf8)
        let sum = CyclicRedundancyCheck.crc16Modbus.checksum(of: value)
        let message = value + [UInt8](littleEndian: UInt16(sum))
        // .
        handle(message)
    }

    func keys(peripheral: Peripheral) async throws {
        // Sources/ATT/GATT/Values/CharacteristicKey.swift
        let level = try await peripheral.read(.batteryLevel)
        let mode = CharacteristicKey<UInt8>(0x1234_5678_9abc_def0_1234_5678_9abc_def0)
        // .
        handle((level, mode))
    }

    func reassemble(device: Peripheral, uart: RemoteCharacteristic) async throws {
        // Sources/GATTClient/Chunks/ValueReassembler.swift
        var lines = ValueReassembler(.delimiter([0x0a]), limit: 1024)
        for try await part in try await device.values(of: uart) {
            lines.receive(part.value, at: part.received)
            while let line = try lines.next() { print(line) }
        }
        // .
    }

    func offer(writeTag: (AdvertisingData?) -> Void) async throws {
        // Sources/SMP/Pairing/OutOfBandOffer.swift
        var options = AdapterOptions()
        options.security.outOfBandOffer = OutOfBandOffer()
        let adapter = try await Adapter.open(.virtual(name: "kitchen"), options: options)
        writeTag(await adapter.outOfBandRecord?.advertisingData)
        // .
    }
}
