import ArgumentParser
import BLE
import BLECore
import HCISocket

/// `bletool gatt DEVICE write ATTR VALUE`.
struct GATTWriteCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Write a value.",
        usage:
            "bletool gatt <device> write <attr> <value> [--with-response | --without-response | --reliable | "
            + "--signed] [--chunk <n>]",
        discussion: """
            A value is hex, or has a prefix with its type: utf8:Hello, u16:500, u8:1,2,3. --format selects another \
            format; auto is the one in which `read` shows the attribute.

            A value of more than MTU - 3 octets is sent as a long write, whose parts take effect together; \
            without responses it is an error, unless --chunk splits it into writes of that size. On a \
            terminal, the progress and speed of these writes are shown.

            Writes without a response are reported as sent when the device's radio has acknowledged them; \
            on a kernel adapter, when the kernel has given them to the controller. A write that cannot be \
            sent within 2 s is an error. When writes of --chunk end early, also by Ctrl-C, a message reports \
            how many octets the device has confirmed or, without response, were accepted for sending.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The attribute.", valueName: "attr"))
    var attribute: String

    @Argument(help: ArgumentHelp("The value; none with --from.", valueName: "value"))
    var value: String?

    @Flag(
        help: "Write without response. Default for the UUID of a characteristic that offers no other writes.")
    var withoutResponse = false

    @Flag(help: "Write with a response, whatever the characteristic offers.")
    var withResponse = false

    @Flag(help: "Write reliably: the device echoes each part, and the echo is checked.")
    var reliable = false

    @Flag(
        help:
            "Write without response, signed: for a bonded device, on a link without encryption."
    )
    var signed = false

    @Option(
        help: ArgumentHelp("Split the value into separate writes of this many octets.", valueName: "octets"))
    var chunk: String?

    @Option(
        help: ArgumentHelp("Write what this file holds; - is stdin.", valueName: "file"), completion: .file())
    var from: String?

    @Option(
        help: ArgumentHelp("How the value is written. (values: \(ValueFormat.list))", valueName: "format"),
        completion: .list(ValueFormat.allCases.map(\.rawValue)))
    var format: String?

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        _ = try ConnectedDevice.paths([attribute])
        // What `auto` means depends on the attribute.
        if try shape() != .auto { try checkLength(try octets(as: nil)) }
        _ = try chunkSize()
        if withoutResponse, reliable {
            throw Failure(
                .usage, "--reliable", "needs responses: it cannot be combined with --without-response")
        }
        if withResponse, withoutResponse {
            throw Failure(.usage, "--with-response", "cannot be combined with --without-response")
        }
        if signed, withResponse || withoutResponse || reliable || chunk != nil {
            throw Failure(
                .usage, "--signed",
                "cannot be combined with --with-response, --without-response, --reliable or --chunk")
        }
        if signed, options.link.security ?? .open != .open {
            throw Failure(.usage, "--signed", "is for links without encryption")
        }
        if format != nil, from != nil {
            throw Failure(.usage, "--format", "cannot be combined with --from")
        }
    }

    var encryptsIfBonded: Bool { !signed }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        guard let attribute = try await device.resolve([attribute], certainly: true).first else { return }
        try check(attribute)
        let value = try octets(as: try await device.type(of: attribute, for: try shape() ?? .hex))
        try checkLength(value)
        let (size, handle, isCommand) = (try chunkSize(), attribute.handle, isCommand(to: attribute))
        if isCommand { try await checkRoom(for: min(size ?? value.count, value.count), device) }
        let display = size == nil ? nil : ProgressDisplay(device.console)
        defer { display?.abandon() }
        let reached = Lock(0)
        do throws(Failure) {
            try await device.attempt(self.attribute) {
                [peripheral = device.peripheral, reliable, signed] () throws(BLEError) in
                if let size {
                    try await peripheral.write(
                        value, to: handle, inPartsOf: size, isCommand ? .withoutResponse : .withResponse
                    ) { progress in
                        reached.withLock { $0 = progress.written }
                        display?.show(progress.written, of: progress.total)
                    }
                } else if isCommand {
                    try await peripheral.writeWithoutResponse(value, to: handle)
                } else if signed {
                    try await peripheral.writeSigned(value, to: handle)
                } else if reliable {
                    try await peripheral.writeReliably(value, to: handle)
                } else {
                    try await peripheral.write(value, to: handle)
                }
                if isCommand || signed { try await peripheral.waitUntilSent() }
            }
        } catch {
            if size != nil {
                display?.abandon()
                let reached = reached.withLock { $0 }
                let count = "\(reached) of \(value.count) octets"
                let doubt = reached > 0 ? "; the last of them may not have been sent" : ""
                device.console.note(
                    isCommand
                        ? "\(count) were accepted for sending\(doubt)" : "the device has confirmed \(count)")
            }
            throw error
        }
        display?.end(value.count)
        device.console.show(
            WrittenEvent(handle: handle, value: value, isAcknowledged: !isCommand && !signed))
    }

    /// Whether the value is written by a command, which has no response.
    private func isCommand(to attribute: RemoteAttribute) -> Bool {
        if withoutResponse { return true }
        guard !withResponse, !reliable, !signed, attribute.isValue,
            let properties = attribute.characteristic?.properties
        else { return false }
        return properties.contains(.writeWithoutResponse) && !properties.contains(.write)
    }

    /// Rejects a write that the server would discard without a response. An attribute that is given as a
    /// handle is not checked.
    func check(_ attribute: RemoteAttribute) throws(Failure) {
        guard withoutResponse || signed, attribute.isValue, let characteristic = attribute.characteristic,
            case .uuids? = try ConnectedDevice.paths([self.attribute]).first,
            !characteristic.properties.contains(signed ? .authenticatedSignedWrites : .writeWithoutResponse)
        else { return }
        throw Failure(
            .input, self.attribute,
            "takes no \(signed ? "signed writes" : "writes without response"): [\(characteristic.properties.names.joined(separator: " "))]",
            hint: "to write it all the same, give its handle, \(attribute.handle)")
    }

    /// Rejects a value of more than 512 octets, unless it is written in parts.
    private func checkLength(_ value: [UInt8]) throws(Failure) {
        guard value.count > 512, chunk == nil else { return }
        throw Failure(
            .input, from.map { "--from \($0)" } ?? "value",
            "has \(value.count) octets, and an attribute's value at most 512",
            hint: signed || reliable ? nil : "--chunk 512, or less, writes parts one after the other")
    }

    /// Rejects a value or part of `count` octets if it does not fit into one command.
    private func checkRoom(for count: Int, _ device: ConnectedDevice) async throws(Failure) {
        let room = try await device.attempt(attribute) {
            [peripheral = device.peripheral] () throws(BLEError) in
            try await peripheral.maximumWriteLength
        }
        guard count > room else { return }
        throw Failure(
            .input, attribute, "\(count) octets do not fit into one packet, which carries at most \(room)",
            hint: "--chunk \(room) writes them in parts")
    }

    private func shape() throws(Failure) -> ValueFormat? {
        try format.map { text throws(Failure) in
            try reading("--format") { () throws(BadInput) in try ValueFormat(text: text) }
        }
    }

    private func chunkSize() throws(Failure) -> Int? {
        guard let chunk else { return nil }
        return Int(
            try reading("--chunk") { () throws(BadInput) in try UInt16(text: chunk, in: 1...512, "a part") })
    }

    private func octets(as type: ValueType?) throws(Failure) -> [UInt8] {
        let format = try shape()
        switch (value, from) {
        case (let value?, nil):
            return try reading("value") { () throws(BadInput) in
                try ValueFormat.octets(argument: value, format: format, type: type)
            }
        case (nil, let path?): return try Self.contents(of: path)
        case (nil, nil): throw Failure(.usage, "write", "a value is missing", hint: "VALUE or --from FILE")
        case (_?, _?): throw Failure(.usage, "--from", "the value is given already")
        }
    }

    /// The maximum size of a file in octets. An attribute holds at most 512 octets, but a value that is
    /// written in parts can be longer.
    private static let limit = 64 << 20

    private static func contents(of path: String) throws(Failure) -> [UInt8] {
        try reading("--from \(path)") { () throws(BadInput) in
            try File.argument(path, limit: limit)
        }
    }
}
