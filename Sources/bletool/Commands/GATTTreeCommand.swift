import ATT
import ArgumentParser
import BLE
import BLECore
import GATTClient

/// `bletool gatt DEVICE tree`.
struct GATTTreeCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Show all services, characteristics and descriptors.",
        usage: "bletool gatt <device> tree [--values]")

    @OptionGroup var options: GATTOptions

    @Flag(help: "Read the values as well.")
    var values = false

    @OptionGroup var global: GlobalOptions

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let database = try await device.discover()
        let mtu = try await device.attempt("tree") { [peripheral = device.peripheral] () throws(BLEError) in
            try await peripheral.mtu
        }
        var read: [AttributeHandle: TreeEvent.Value] = [:]
        if values { read = try await readAll(of: database, device) }
        device.console.show(
            TreeEvent(
                address: device.peripheral.address, mtu: mtu,
                services: database.services.map { TreeEvent.Service($0, database, read) },
                faults: database.faults, name: Names.name))
        try database.checkFaults("tree")
    }

    /// Reads the value of each readable attribute, or the reason why it cannot be read.
    private func readAll(
        of database: RemoteDatabase, _ device: ConnectedDevice
    ) async throws(Failure) -> [AttributeHandle: TreeEvent.Value] {
        var read: [AttributeHandle: TreeEvent.Value] = [:]
        let characteristics = database.services.flatMap(\.characteristics)
        let handles = characteristics.flatMap { characteristic in
            (characteristic.properties.contains(.read) ? [characteristic.valueHandle] : [])
                + characteristic.descriptors.map(\.handle)
        }
        // After a failed pairing, the other values are read without pairing, so that the user is not asked
        // for a passkey again for each of them.
        var raising = true
        for handle in handles {
            let (value, isSecure) = try await device.attempt("\(handle)") {
                [peripheral = device.peripheral, raising] () throws(BLEError) in
                do throws(BLEError) {
                    let octets = try await peripheral.read(handle, raisingSecurity: raising)
                    return (TreeEvent.Value.read(octets), true)
                } catch {
                    switch error {
                    case .att(let refusal): return (.refused("\(refusal.code)"), true)
                    case .peerMisbehaved(let fault): return (.refused("\(fault)"), true)
                    case .cannotPair, .pairing, .bondLost, .encryption, .kernelPairing:
                        return (.refused("\(error)"), false)
                    default: throw error
                    }
                }
            }
            read[handle] = value
            raising = raising && isSecure
        }
        return read
    }
}

extension TreeEvent.Service {
    fileprivate init(
        _ service: RemoteService, _ database: RemoteDatabase, _ read: [AttributeHandle: TreeEvent.Value]
    ) {
        self.init(
            uuid: service.uuid, handle: service.handle, endHandle: service.endHandle,
            isPrimary: service.isPrimary,
            includes: service.includes.map {
                TreeEvent.Include(uuid: $0.uuid, handle: $0.serviceHandle, endHandle: $0.endHandle)
            },
            characteristics: service.characteristics.map { characteristic in
                TreeEvent.Characteristic(
                    uuid: characteristic.uuid, handle: characteristic.handle,
                    valueHandle: characteristic.valueHandle, properties: characteristic.properties.names,
                    value: read[characteristic.valueHandle],
                    descriptors: characteristic.descriptors.map {
                        TreeEvent.Descriptor(uuid: $0.uuid, handle: $0.handle, value: read[$0.handle])
                    })
            })
    }
}
