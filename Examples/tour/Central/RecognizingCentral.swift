import BLE
import ExampleSupport

/// A central that connects to a peripheral whose address changes. Each address appears as another device
/// until the two have bonded; then the central recognizes the peripheral at any address.
struct RecognizingCentral {
    private let central: CentralManager

    static func run(on adapter: Adapter) async throws {
        let visitor = RecognizingCentral(central: CentralManager(adapter))
        let (id, _) = try await visitor.find()
        // The identifier of a bonded device is that of its identity address, whatever its address is now.
        if id.isLasting { try await visitor.meetAgain(id) } else { try await visitor.meet(id) }
    }

    /// Finds the peripheral by its name, at a different address than that of `other`.
    private func find(
        except other: Peripheral.Identifier? = nil
    ) async throws -> (Peripheral.Identifier, Advertisement) {
        var options = ScanOptions()
        options.name = "Hiding"
        let found = try await central.first(options, within: .seconds(60)) { $0.id != other }
        guard let id = found.id else { throw BLEError.notFound(.address) }
        return (id, found)
    }

    private func meet(_ first: Peripheral.Identifier) async throws {
        Program.printLine("found one whose identifier is lasting: \(first.isLasting)")
        let (second, _) = try await find(except: first)
        Program.printLine("found one with another identifier, which is lasting: \(second.isLasting)")

        let device = try await connect()
        let security = try await device.pair()
        let id = await device.id
        Program.printLine("bonded: \(security.isBonded); its identifier is lasting: \(id.isLasting)")
        var alarms = try await device.values(of: .tourAlarm).makeAsyncIterator()
        Program.printLine("alarm: \(try await alarms.next() ?? "none")")

        let setting = try await device.characteristic(uuid: .tourSetting, in: .tour)
        guard let switched = setting.descriptor(.serverCharacteristicConfiguration) else {
            throw BLEError.notFound(.characteristic(.serverCharacteristicConfiguration, of: nil))
        }
        try await device.write([1, 0], to: switched)
        // The subscription belongs to the bond: it outlives a link that ends before the stream of values.
        await device.disconnect()
        withExtendedLifetime(alarms) {}
        var (sender, received) = try await find()
        while received.fields.serviceData.isEmpty { (sender, received) = try await find() }
        let value = received.fields.serviceData.map { String(decoding: $0.data, as: UTF8.self) }
        Program.printLine("broadcast by the bonded device: \(sender == id), \(value)")
    }

    /// Connects to the peripheral. The peripheral can change its address while this host connects to the old
    /// address, where it is no longer reachable, so the connection attempt is repeated.
    private func connect() async throws -> Peripheral {
        while true {
            let (id, _) = try await find()
            do throws(BLEError) {
                return try await central.connect(to: id, timeout: .seconds(4))
            } catch {
                guard case .timedOut(.connecting, _) = error else { throw error }
            }
        }
    }

    private func meetAgain(_ id: Peripheral.Identifier) async throws {
        Program.printLine("recognized by the bond")
        try await central.withConnection(to: id) { device in
            let alarm = try await device.characteristic(.tourAlarm)
            try await device.pair()
            var isSubscribed = false
            if let descriptor = alarm.descriptor(.clientCharacteristicConfiguration),
                case .clientConfiguration(let bits) = try await device.value(of: descriptor)
            {
                isSubscribed = bits.contains(.notify)
            }
            Program.printLine("still subscribed: \(isSubscribed)")
        }
    }
}
