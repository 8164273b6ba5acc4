import ArgumentParser
import BLE
import BLECore
import GATTClient

/// `bletool gatt DEVICE read ATTR`.
struct GATTReadCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Read a value, however long it is.",
        usage: "bletool gatt <device> read <attr> [--offset <n>] [--multiple <attr> ...] [--to <file>]")

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The attribute.", valueName: "attr"))
    var attribute: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin at this octet of the value.", valueName: "octets"))
    var offset: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Read these as well, all in one request.", valueName: "attr"))
    var multiple: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            How to show the value; default: auto, and hex with --json. utf8 has line ends and the like as \\u{a}; several \
            numbers are a list, 1,770, with --json an array; raw is the octets as they are. (values: \(ValueFormat.list))
            """, valueName: "format"), completion: .list(ValueFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        help: ArgumentHelp("Write the value's octets to this file; - is stdout.", valueName: "file"),
        completion: .file())
    var to: String?

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        _ = try ConnectedDevice.paths([attribute] + multiple)
        _ = try start()
        _ = try shownFormat(format, global)
        if offset != nil, !multiple.isEmpty {
            throw Failure(.usage, "--offset", "cannot be combined with --multiple")
        }
        guard let to else { return }
        if !multiple.isEmpty { throw Failure(.usage, "--to", "cannot be combined with --multiple") }
        if format != nil { throw Failure(.usage, "--to", "cannot be combined with --format") }
        guard to != "-" else { return try checkRawOutput(global, "--to -") }
        do throws(BadInput) {
            try File.checkWritable(to)
        } catch {
            throw Failure("--to \(to)", error, kind: .input)
        }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let format = try shownFormat(format, global)
        let attributes = try await device.resolve([attribute] + multiple)
        guard multiple.isEmpty else { return try await readTogether(attributes, device, format) }
        let start = try start()
        let limit = StoredValue.limit
        for attribute in attributes {
            var value = try await device.attempt(self.attribute) {
                [peripheral = device.peripheral, to] () throws(BLEError) in
                try await peripheral.read(attribute.handle, from: start, cutAfter: to == nil ? limit : .max)
            }
            if start + value.count > limit {
                let advice =
                    to == nil ? "; those up to the \(limit)th are shown, and --to FILE reads all" : ""
                device.console.note(
                    "\(self.attribute): the value has more than \(limit) octets, which the specification forbids\(advice)"
                )
                if to == nil { value = Array(value.prefix(limit - start)) }
            }
            device.onValue(attribute.handle, value)
            if let to {
                try await write(value, of: attribute, to: to, device)
            } else {
                try await show(value, of: attribute, device, format)
            }
        }
    }

    private func write(
        _ value: [UInt8], of attribute: RemoteAttribute, to file: String, _ device: ConnectedDevice
    ) async throws(Failure) {
        guard file != "-" else {
            device.console.output.octets(value)
            return
        }
        do throws(BadInput) {
            try File.replace(file, with: value, mode: 0o644)
        } catch {
            throw Failure(file, error, kind: .input)
        }
        let uuid = device.console.isJSON ? try await device.uuid(of: attribute) : nil
        device.console.show(
            SavedValueEvent(handle: attribute.handle, uuid: uuid, count: value.count, file: file))
    }

    private func show(
        _ value: [UInt8], of attribute: RemoteAttribute, _ device: ConnectedDevice, _ format: ValueFormat
    ) async throws(Failure) {
        guard format != .raw else {
            device.console.output.octets(value)
            return
        }
        let uuid = try await device.uuid(of: attribute)
        guard format.fits(value) else {
            throw Failure(
                .input, uuid.map { "\($0)" } ?? "\(attribute.handle)",
                "\(value.hex) (octets: \(value.count)) is not \(format.rawValue)",
                hint: "--format auto and hex show any value")
        }
        let type = try await device.type(of: attribute, uuid, for: format)
        device.console.show(
            ValueEvent(handles: [attribute.handle], uuid: uuid, value: value, format: format, type: type))
    }

    private func start() throws(Failure) -> Int {
        guard let offset else { return 0 }
        let octets = Int(
            try reading("--offset") { () throws(BadInput) in try UInt16(text: offset, "an offset") })
        // A file can receive a value that is longer than the specification permits.
        guard octets <= StoredValue.limit || to != nil else {
            throw Failure(
                .usage, "--offset",
                "\(octets) is after the end of every value: values have at most 512 octets",
                hint: "with --to, also octets of longer values are read")
        }
        return octets
    }

    /// Reads several attributes in one request. If the server supports Read Multiple Variable, each value is
    /// a line. Otherwise, Read Multiple is used and the joined values are one line, because its response does
    /// not contain their lengths.
    private func readTogether(
        _ attributes: [RemoteAttribute], _ device: ConnectedDevice, _ format: ValueFormat
    ) async throws(Failure) {
        let handles = attributes.map(\.handle)
        let result = try await device.attempt("read") {
            [peripheral = device.peripheral] () throws(BLEError) in
            try await peripheral.read(handles)
        }
        switch result {
        case .separate(let values):
            for (attribute, value) in zip(attributes, values) {
                try await show(value.value, of: attribute, device, format)
            }
        case .joined(let octets) where format == .raw: device.console.output.octets(octets)
        case .joined(let octets):
            device.console.show(ValueEvent(handles: handles, uuid: nil, value: octets, format: .hex))
        }
    }
}

/// Returns the format of `--format`. The default is auto for text output and hex for JSON.
func shownFormat(_ text: String?, _ global: GlobalOptions) throws(Failure) -> ValueFormat {
    guard let text else { return global.output.json ? .hex : .auto }
    let format = try reading("--format") { () throws(BadInput) in try ValueFormat(text: text) }
    if format == .raw { try checkRawOutput(global, "--format raw") }
    return format
}

/// Rejects raw octets with `--json`, because they are not JSON, and on a terminal, which would interpret
/// them.
private func checkRawOutput(_ global: GlobalOptions, _ option: String) throws(Failure) {
    if global.output.json { throw Failure(.usage, option, "cannot be combined with --json") }
    try LineWriter.output.refuseOctets(option)
}

extension ConnectedDevice {
    /// As `type(of:_:for:)`, with the UUID that the server reports if only the handle is known.
    func type(of attribute: RemoteAttribute, for format: ValueFormat) async throws(Failure) -> ValueType? {
        guard format == .auto else { return nil }
        return try await type(of: attribute, uuid(of: attribute), for: format)
    }

    /// Returns the type of a value for the format auto: from its Characteristic Presentation Format
    /// descriptor if it has one, otherwise from its UUID.
    func type(
        of attribute: RemoteAttribute, _ uuid: BluetoothUUID?, for format: ValueFormat
    ) async throws(Failure) -> ValueType? {
        guard format == .auto, let uuid else { return nil }
        let described =
            attribute.isValue
            ? attribute.characteristic?.descriptors.first { $0.uuid == 0x2904 }?.handle : nil
        guard let described else { return ValueType(of: uuid) }
        let presentation = try await attemptUnlessRefused("\(described)") {
            [peripheral] () throws(BLEError) in
            try await peripheral.read(described)
        }
        return ValueType(of: uuid, presentation: presentation)
    }
}
