import BLE
import ExampleSupport

extension TourCentral {
    /// Finds the peripheral from its advertising data.
    static func find(with central: CentralManager) async throws -> Peripheral.Identifier {
        var options = ScanOptions()
        options.services = [.tour]
        // The name is in the scan response.
        let found = try await central.first(options, within: .seconds(10)) { $0.name != nil }
        guard let id = found.id else { throw BLEError.notFound(.address) }
        let kind = found.isConnectable ? "connectable" : "not connectable"
        Program.printLine("found \(found.name ?? "") with \(found.fields.serviceUUIDs), \(kind)")
        // The identifier of a peripheral with a private address and without a bond changes with its address.
        let keepsItsAddress = [.public, .static].contains(id.kind)
        Program.printLine("its identifier is lasting: \(id.isLasting), public or static: \(keepsItsAddress)")

        // A background application on iOS advertises bits in place of services. The table assigns bits to
        // services; the assignment has to be determined by experiment.
        let table: [Int: BluetoothUUID] = [13: .tour, 77: .heartRateService]
        let background = try await central.first(within: .seconds(10)) { found in
            found.fields.manufacturerData.contains { AppleOverflowArea($0)?.services(in: table) == [.tour] }
        }
        Program.printLine("its overflow area has the bit of fff0: \(background.id == id)")
        return id
    }
}
