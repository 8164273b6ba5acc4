import ArgumentParser
import BLE
import BLECore
import GATTClient

/// `bletool gatt DEVICE dump [FILE]`.
struct GATTDumpCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Write the device's server as a configuration for `serve`.",
        usage: "bletool gatt <device> dump [<file>]",
        discussion: """
            Writes services, characteristics and descriptors with their handles, the values that can be \
            read, and the advertising data, which it scans for before it connects, for at most three \
            seconds. Comments give the reason why a value could not be read. Pairs if a value requires it, \
            as `read` does. What security a write requires, and what it does, cannot be read from a device. Only a link \
            without encryption shows which attributes require it. A bonded device is then encrypted with the key of \
            the bond, and its values are read again; --plain-text omits that.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(
        help: ArgumentHelp(
            "The configuration; default: -, which is stdout. An existing file is replaced.",
            valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var global: GlobalOptions

    /// Only a link without encryption shows which attributes require it.
    var encryptsIfBonded: Bool { false }

    /// The path of the configuration; nil for stdout.
    private var path: String? { file.flatMap { $0 == "-" ? nil : $0 } }

    func run(_ radio: Radio) async throws(Failure) {
        try checkPath()
        try await options.pairing.outOfBand.writeOffer(of: radio)
        let radio = radio.sharingTimeLimit()
        var connection = try options.link.connection()
        connection.encryptsIfBonded = encryptsIfBonded
        let (limit, onCoded) = (try options.link.timeLimit(), connection.phys == [.leCoded])
        let address = try await radio.find(
            .parsed(options.device), within: limit ?? radio.connectingLimit, onCoded: onCoded)
        let isBonded = await radio.adapter.isBonded(with: address)
        let advertised = try await radio.advertised(by: address, within: .seconds(3), onCoded: onCoded)
        let peripheral = try await radio.connect(to: .address(address), connection, within: limit)
        try await radio.ending(peripheral) { () throws(Failure) in
            try await dump(
                ConnectedDevice(peripheral: peripheral, radio: radio), advertised,
                provingKey: isBonded && !options.link.plainText)
        }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        try checkPath()
        try await dump(device, nil, provingKey: false)
    }

    /// Throws if the configuration could not be written, before the device is read.
    private func checkPath() throws(Failure) {
        guard let path else { return }
        do throws(BadInput) {
            try File.checkWritable(path)
        } catch {
            throw Failure(path.printable, error, kind: .input)
        }
    }

    private func dump(
        _ device: ConnectedDevice, _ advertised: DeviceImage.Advertised?, provingKey: Bool
    ) async throws(Failure) {
        let agreed = try await device.attempt("mtu") { [peripheral = device.peripheral] () throws(BLEError) in
            try await peripheral.mtu
        }
        var image = try await DeviceReader(device: device)
            .image(mtu: options.link.mtu == nil ? agreed : nil, provingKey: provingKey)
        image.advertised = advertised
        let clone: ClonedConfiguration
        do throws(ConfigurationError) {
            clone = try ClonedConfiguration(image)
        } catch {
            throw Failure(.input, device.peripheral.address.text, "serve could not run it: \(error.reason)")
        }
        if let path {
            do throws(BadInput) {
                try File.replace(
                    path, with: Array((clone.yaml.joined(separator: "\n") + "\n").utf8), mode: 0o644)
            } catch {
                throw Failure(path.printable, error, kind: .input)
            }
        }
        let event = DumpEvent(image: image, clone: clone, file: path)
        guard device.console.show(event) else { return }
        if let note = event.fidelityNote { device.console.note(note) }
        try image.database.checkFaults("dump")
    }
}

/// The event of `gatt … dump`: the configuration, or the file that contains it.
struct DumpEvent: Event {
    /// The attributes and values that were read.
    var image: DeviceImage
    /// The configuration that was written.
    var clone: ClonedConfiguration
    /// The file that was written, or nil for stdout.
    var file: String?

    private var unread: [(AttributeHandle, String)] {
        image.shown.filter { $0.value.value == nil }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.reason ?? "") }
    }

    /// A note about how the configuration differs from the device's server, or nil.
    var fidelityNote: String? {
        switch clone.fidelity {
        case .standard, .exact, .contradictory: nil
        case .partial: "the configuration lacks some descriptors; its comments name them, with the reasons"
        case .moved(let reason): "the handles of the configuration differ from those of the device: \(reason)"
        }
    }

    var json: JSONValue {
        [
            "event": "dump", "address": JSONValue(image.address), "file": JSONValue(file),
            "exact": JSONValue(fidelityNote == nil),
            "unread": .array(
                unread.map { ["handle": JSONValue($0.0), "reason": JSONValue($0.1)] }),
            "faults": .array(image.database.faults.map(\.json)), "configuration": clone.node.json,
        ]
    }

    func lines(colored: Bool) -> [String] {
        guard let file else { return clone.yaml }
        let services = image.database.services
        let count = services.reduce(0) { $0 + $1.characteristics.count }
        let missing = unread.isEmpty ? "" : "; values that could not be read: \(unread.count)"
        return ["wrote \(file.printable): services: \(services.count), characteristics: \(count)\(missing)"]
    }
}
