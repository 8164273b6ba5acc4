import BLE

/// Samples of the module BLE, as far as they are about the central role.
struct CentralSamples {
    func knownDevice(central: CentralManager, id: Peripheral.Identifier) async throws {
        // Sources/BLE/Central/Chain/Channel.swift
        let level = try await central.chain(to: id).connect(timeout: .seconds(10)).read(.batteryLevel)
        // .
        handle(level)
    }

    func everything(peripheral: Peripheral) async throws {
        // Sources/BLE/Central/GATT/DatabaseValues.swift
        let all = try await peripheral.readAll()
        for characteristic in all.database.services.flatMap(\.characteristics) {
            print(characteristic.uuid, all[characteristic]?.hex ?? "-")
        }
        // .
    }

    let adapter: Adapter
    let central: CentralManager
    let peripheral: Peripheral

    func read() async throws {
        // Sources/BLE/Central/CentralManager.swift
        let central = CentralManager(try await Adapter.open(.virtual(name: nil)))
        let found = try await central.first(within: .seconds(5)) { $0.name == "Thermometer" }
        guard let address = found.address else { return }
        try await central.withConnection(to: address) { peripheral in
            let database = try await peripheral.discover()
            guard let temperature = database.characteristics(0x2a6e).first else { return }
            print(try await peripheral.read(temperature))
        }
        // .
    }

    func characteristic() async throws {
        // Sources/BLE/Central/Values/Peripheral+TypedValues.swift
        let temperature = try await peripheral.characteristic(uuid: 0x2a6e)
        let octets = try await peripheral.read(temperature)
        // .
        handle(octets)
    }

    func serverOfCentral(centrals: CentralManager, peripherals: PeripheralManager) async throws {
        // Sources/BLE/Central/CentralManager.swift
        for try await case .connected(let central, _) in peripherals.events() {
            let phone = try await centrals.peripheral(of: central)
            print(try await phone.read(.batteryLevel))
        }
        // .
    }

    func periodic(address: DeviceAddress) async throws {
        // Sources/BLE/Central/CentralManager.swift
        for try await report in central.periodicAdvertising(of: address, set: 1) {
            print(report.fields.serviceData)
        }
        // .
    }

    func each() async throws {
        // Sources/BLE/Central/Chain/Chain.swift
        let levels = try await central.chain { $0.services = [.batteryService] }.within(.seconds(10))
            .each(3) { (device) throws(BLEError) in try await device.read(.batteryLevel) }
        // .
        handle(levels)
    }

    func channel() async throws {
        // Sources/BLE/Central/Chain/Channel.swift
        let kitchen = central.channel("kitchen")
        let events = kitchen.events()
        let level = try await kitchen.scan { $0.name = "Kitchen*" }.connect().read(.batteryLevel)
        // .
        handle((events, level))
    }

    func chain() async throws {
        // Sources/BLE/Central/Chain/Channel.swift
        let level = try await central.chain { $0.services = [.batteryService] }
            .where { $0.rssi ?? -127 > -70 }.within(.seconds(5))
            .connect(timeout: .seconds(10))
            .read(.batteryLevel)
        // .
        handle(level)
    }

    func command(transmit: RemoteCharacteristic, receive: RemoteCharacteristic) async throws {
        // Sources/BLE/Central/Commands/CommandChannel.swift
        let channel = peripheral.commandChannel(writing: transmit, answers: receive)
        try channel.enqueue([0x01])
        for try await answer in channel.answers { print(answer.value) }
        // .
        // Sources/BLE/Central/Commands/CommandChannel.swift
        let version = try await channel.request([0x02], within: .seconds(2)).value
        // .
        print(version)
    }

    func connectionEvents() async throws {
        // Sources/BLE/Central/Events/Adapter+ConnectionEvents.swift
        for try await event in central.connectionEvents() { print(event) }
        // .
    }

    func identify() {
        // Sources/BLE/Central/Identity/PeripheralIdentifier.swift
        let known = Peripheral.Identifier("c0112233-4455-8001-8062-6c65746f6f6c")
        // .
        handle(known)
    }

    func read(from peripheral: Peripheral) async throws {
        // Sources/BLE/withTimeout.swift
        let level = try await withTimeout(.seconds(5)) { try await peripheral.read(.batteryLevel) }
        // .
        print(level)
    }

    func maintainNamed(follow: (Peripheral) async throws -> Void) async throws {
        // Sources/BLE/Central/Maintaining/MaintainedConnection.swift
        var scan = ScanOptions()
        scan.name = "Thermometer *"
        for try await device in central.maintain(matching: scan) {
            do { try await follow(device) } catch BLEError.disconnected { continue }
        }
        // .
    }

    func limitedWait(answer: RemoteCharacteristic, command: RemoteCharacteristic) async throws {
        // Sources/BLE/Streams/BoundedStream.swift
        let answers = try await peripheral.values(of: answer)
        try await peripheral.write([0x01], to: command)
        let first = try await answers.next(within: .seconds(2))
        // .
        print(first as Any)
    }

    func severalValues(temperature: RemoteCharacteristic, humidity: RemoteCharacteristic) async throws {
        // Sources/BLE/Central/Peripheral.swift
        for try await value in try await peripheral.values(of: [temperature, humidity]) {
            print(value.handle == temperature.valueHandle ? "°C" : "%", value.value)
        }
        // .
    }

    func maintain(id: Peripheral.Identifier, follow: (Peripheral) async throws -> Void) async throws {
        // Sources/BLE/Central/Maintaining/MaintainedConnection.swift
        for try await device in central.maintain(id) {
            do { try await follow(device) } catch BLEError.disconnected { continue }
        }
        // .
    }

    func values(temperature: RemoteCharacteristic) async throws {
        // Sources/BLE/Central/Peripheral.swift
        for try await measured in try await peripheral.values(of: temperature, buffer: .newest(1)) {
            print(measured.value)
        }
        // .
    }

    func write(firmware: [UInt8], upload: RemoteCharacteristic) async throws {
        // Sources/BLE/Central/Peripheral.swift
        try await peripheral.write(firmware, to: upload, inPartsOf: 128) { print($0.written, "of", $0.total) }
        // .
    }

    func smooth(options: ScanOptions) async throws {
        // Sources/BLE/Central/Values/RSSISmoother.swift
        var smoother = RSSISmoother()
        for try await found in central.scan(options) {
            if let strength = smoother.add(found.rssi) { print(strength) }
        }
        // .
    }

    func restore(
        tasks: inout ThrowingTaskGroup<Void, any Error>,
        follow: @escaping @Sendable ([RestoredSubscription], Peripheral) async throws -> Void
    ) async throws {
        // Sources/BLE/Restoration/Central/RestoredCentralState.swift
        let central = try await CentralManager(adapter, restoring: "gateway")
        for device in central.restored.peripherals {
            tasks.addTask {
                // `follow` reads the stream of each subscription in a task of its own.
                for try await session in central.maintain(device.id, options: device.options) {
                    do {
                        try await follow(device.subscriptions, session)
                    } catch BLEError.disconnected {
                        continue
                    }
                }
            }
        }
        // .
    }
}
