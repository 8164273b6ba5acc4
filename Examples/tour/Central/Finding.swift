import BLE
import ExampleSupport

extension TourCentral {
    /// The peripheral, by what it advertises.
    static func find(with central: CentralManager) async throws -> Peripheral.Identifier {
        var options = ScanOptions()
        options.services = [.tour]
        // Its name comes with the scan response.
        let found = try await central.first(options, within: .seconds(10)) { $0.name != nil }
        guard let id = found.id else { throw BLEError.notFound(.address) }
        let kind = found.isConnectable ? "connectable" : "not connectable"
        Program.say("found \(found.name ?? "") with \(found.fields.serviceUUIDs), \(kind)")
        // One with a private address and no bond has another identifier whenever it changes its address.
        let keepsItsAddress = [.public, .static].contains(id.kind)
        Program.say("its identifier is lasting: \(id.isLasting), public or static: \(keepsItsAddress)")

        // An application in the background of iOS advertises bits; which of them is whose one must have found out.
        let table: [Int: BluetoothUUID] = [13: .tour, 77: .heartRateService]
        let background = try await central.first(within: .seconds(10)) { found in
            found.fields.manufacturerData.contains { AppleOverflowArea($0)?.services(in: table) == [.tour] }
        }
        Program.say("its overflow area has the bit of fff0: \(background.id == id)")
        return id
    }
}
