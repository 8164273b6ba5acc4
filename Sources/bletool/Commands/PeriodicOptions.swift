import ArgumentParser
import BLE
import BLEAdvertising
import BLECore

/// The periodic advertising train that `advertise` sends in addition to an advertisement.
struct PeriodicOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Also send a periodic advertising train with this interval, 7.5ms to 81.91875s; a range, \
            100ms-200ms, leaves the choice to the controller. The train carries the data of the \
            advertisement, unless it is given here:
            """, valueName: "duration"))
    var periodic: String?

    @Option(
        help: ArgumentHelp(
            "The data of the train, as AD structures in hex, as in 04ff5900ab.", valueName: "hex"))
    var periodicData: String?

    @Option(help: ArgumentHelp("Manufacturer data of the train, as in 0xffff:0102.", valueName: "id:hex"))
    var periodicManufacturer: [String] = []

    @Option(help: ArgumentHelp("Service data of the train, as in feaa:0102.", valueName: "uuid:hex"))
    var periodicServiceData: [String] = []

    @Flag(help: "Add the transmit power to the train's packets.")
    var periodicTxPower = false
}

extension PeriodicOptions {
    /// Returns the settings of the train, or nil if `--periodic` is not given.
    func settings(names: UUIDNames) throws(Failure) -> PeriodicSettings? {
        guard let periodic else {
            let others = [
                ("--periodic-data", periodicData != nil),
                ("--periodic-manufacturer", !periodicManufacturer.isEmpty),
                ("--periodic-service-data", !periodicServiceData.isEmpty),
                ("--periodic-tx-power", periodicTxPower),
            ]
            if let stray = others.first(where: \.1) {
                throw Failure(
                    .usage, stray.0, "needs --periodic", hint: "--periodic DURATION, as in --periodic 100ms")
            }
            return nil
        }
        var settings = PeriodicSettings(
            interval: try reading("--periodic") {
                try ClosedRange(text: periodic, within: PeriodicSettings.intervals)
            })
        settings.includesTxPower = periodicTxPower
        var content = AdvertisingContent()
        content.raw = try reading("--periodic-data", periodicData) { try [UInt8](hexText: $0) }
        content.manufacturer = try reading("--periodic-manufacturer", each: periodicManufacturer) {
            try ManufacturerData(text: $0)
        }
        content.serviceData = try reading("--periodic-service-data", each: periodicServiceData) {
            try ServiceData(text: $0, names: names)
        }
        if content != AdvertisingContent() { settings.content = content }
        return settings
    }

    /// Returns the option that sets a field of the train.
    static func option(_ field: AdvertisingContent.Field) -> String {
        switch field {
        case .manufacturer: "--periodic-manufacturer"
        case .serviceData: "--periodic-service-data"
        default: "--periodic-data"
        }
    }
}
