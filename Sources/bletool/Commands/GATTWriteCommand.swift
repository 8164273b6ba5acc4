import ArgumentParser
import BLE
import BLECore

/// `bletool gatt DEVICE write ATTR VALUE`.
struct GATTWriteCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Write a value.",
        usage: "bletool gatt <device> write <attr> <value> [--without-response | --reliable] [--chunk <n>]",
        discussion: """
            A value is hex, or says what it is: utf8:Hello, u16:500. --format reads it in another way.

            A value over the MTU less 3 octets is written in parts that take effect together; with \
            --without-response it is an error, unless --chunk makes writes of that size of it.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The attribute.", valueName: "attr"))
    var attribute: String

    @Argument(help: ArgumentHelp("The value; none with --from.", valueName: "value"))
    var value: String?

    @Flag(help: "Send it without asking whether it was taken.")
    var withoutResponse = false

    @Flag(help: "Have the device repeat each part, and check it.")
    var reliable = false

    @Option(help: ArgumentHelp("Write parts of this many octets one after the other.", valueName: "octets"))
    var chunk: String?

    @Option(help: ArgumentHelp("Write what this file holds.", valueName: "file"))
    var from: String?

    @Option(help: ArgumentHelp("How the value is written.", valueName: "format"))
    var format: String?

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        _ = try ConnectedDevice.paths([attribute])
        _ = try octets()
        _ = try chunkSize()
        if withoutResponse, reliable {
            throw Failure(.usage, "--reliable", "needs responses, so it does not go with --without-response")
        }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let value = try octets()
        guard let attribute = try await device.resolve([attribute]).first else { return }
        for part in try parts(of: value) {
            try await device.attempt(self.attribute) {
                [peripheral = device.peripheral, withoutResponse, reliable] () throws(BLEError) in
                if withoutResponse {
                    try await peripheral.writeWithoutResponse(part, to: attribute.handle)
                } else if reliable {
                    try await peripheral.writeReliably(part, to: attribute.handle)
                } else {
                    try await peripheral.write(part, to: attribute.handle)
                }
            }
        }
        device.console.show(WrittenEvent(handle: attribute.handle, octets: value.count))
    }

    private func parts(of value: [UInt8]) throws(Failure) -> [[UInt8]] {
        guard let size = try chunkSize(), value.count > size else { return [value] }
        return stride(from: 0, to: value.count, by: size).map {
            Array(value[$0..<min($0 + size, value.count)])
        }
    }

    private func chunkSize() throws(Failure) -> Int? {
        guard let chunk else { return nil }
        return Int(
            try reading("--chunk") { () throws(BadInput) in try UInt16(text: chunk, in: 1...512, "a part") })
    }

    private func octets() throws(Failure) -> [UInt8] {
        let format = try format.map { text throws(Failure) in
            try reading("--format") { () throws(BadInput) in try ValueFormat(text: text) }
        }
        switch (value, from) {
        case (let value?, nil):
            return try reading("value") { () throws(BadInput) in
                try ValueFormat.octets(argument: value, format: format)
            }
        case (nil, let path?): return try Self.contents(of: path)
        case (nil, nil): throw Failure(.usage, "write", "a value is missing", hint: "VALUE or --from FILE")
        case (_?, _?): throw Failure(.usage, "--from", "the value is given already")
        }
    }

    /// The most that is read of a file; an attribute takes 512 octets, streams of parts may be longer.
    private static let limit = 1 << 20

    private static func contents(of path: String) throws(Failure) -> [UInt8] {
        try reading("--from") { () throws(BadInput) in try File.contents(path, limit: limit) }
    }
}
