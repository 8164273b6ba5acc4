import ArgumentParser
import BLE
import BLECore

/// `bletool gatt DEVICE info`.
struct GATTInfoCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the parameters of the link, and the device's controller.",
        usage: "bletool gatt <device> info",
        discussion: """
            Signal strength, connection parameters, PHY, data length, channels, and the version and features of \
            the device's controller. What this adapter does not report is left out, or null with --json.
            """)

    @OptionGroup var options: GATTOptions
    @OptionGroup var global: GlobalOptions

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let connection = device.peripheral.connection
        // The parameters come last: by then, the changes that the controllers negotiate on a new link have
        // been reported.
        let version = try await device.have { () throws(BLEError) in try await connection.remoteVersion() }
        let features = try await device.have { () throws(BLEError) in try await connection.remoteFeatures() }
        let power = try await device.have { () throws(BLEError) in try await connection.transmitPower() }
        let channels = try await device.have { () throws(BLEError) in try await connection.channelMap() }
        let rssi = try await device.have { () throws(BLEError) in try await connection.rssi() }
        _ = try await device.have { () throws(BLEError) in try await connection.phys() }
        let parameters = try await device.attempt("info") { () throws(BLEError) in
            try await connection.parameters
        }
        device.console.show(
            LinkEvent(
                address: device.peripheral.address, parameters: parameters, rssi: rssi ?? nil, power: power,
                channels: channels, version: version, features: features))
    }
}

extension ConnectedDevice {
    /// Returns the operation's value, or nil if the controller rejects or does not support the operation.
    /// Shows a note about that, except for an unknown command.
    fileprivate func have<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(BLEError) -> Value
    ) async throws(Failure) -> Value? {
        try await attempt("info") { [console] () throws(BLEError) in
            do throws(BLEError) {
                return try await body()
            } catch {
                switch error {
                case .hci(.unknownCommand, _): return nil
                case .hci, .adapter(.unsupported):
                    console.note("\(error)")
                    return nil
                default: throw error
                }
            }
        }
    }
}
