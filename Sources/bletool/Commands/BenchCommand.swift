import ArgumentParser
import BLE
import BLECore

struct BenchCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure a link: operations and octets per second, and the latency of each operation.",
        usage: """
            bletool bench <device> [--read <attr> | --write <attr> | --notify <attr>] [--count <n>] [--duration <duration>]
            bletool bench --serve
            bletool bench --adapter virtual
            """,
        discussion: """
            With any device, measures one operation: reading a value repeatedly, writing one, or receiving \
            the values that the device sends. If `bletool bench --serve` runs at the other end, as \
            name:Bench, measures all of them one after the other. Without a device, both ends run here, on \
            the virtual air.

            Times are measured on this host: from a request to its response; for writes without response, \
            until the link accepts the packet; for notifications and indications, from one value to the \
            next. The rate of writes without response includes the time until the last one has arrived, if \
            the other end is `bench --serve` and can report that. By default the virtual air keeps no \
            connection intervals: its numbers show what the hosts and processes can do, not what a radio can \
            do.
            """)

    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String?

    @Flag(help: "Run the other end: accept all writes, and notify continuously.")
    var serve = false

    @OptionGroup var link: LinkOptions
    @OptionGroup(title: "Pairing options") var pairing: PairingArguments

    @Option(help: ArgumentHelp("Read this attribute.", valueName: "attr"))
    var read: String?

    @Option(help: ArgumentHelp("Write this attribute.", valueName: "attr"))
    var write: String?

    @Option(help: ArgumentHelp("Subscribe to this characteristic.", valueName: "attr"))
    var notify: String?

    @Flag(help: "Write without response.")
    var withoutResponse = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The octets of each value written, or notified with --serve; default: as many as fit one packet.",
            valueName: "octets"))
    var size: Int?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("End after this many operations.", valueName: "count"))
    var count: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "End each measurement after this time; default: 5s, or no limit with --serve.",
            valueName: "duration"))
    var duration: String?

    @OptionGroup var global: GlobalOptions

    private var wanted: [String] { [read, write, notify].compactMap { $0 } }

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await pairing.options(
            console, showsPairing: true, hasPassingAddress: try global.radio.hasPassingAddress())
    }

    func check() throws(Failure) {
        try link.check()
        try pairing.outOfBand.check(readsNow: true)
        if let device { _ = try DeviceSelector.parsed(device) }
        _ = try ConnectedDevice.paths(wanted)
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
        if let size, !((serve ? 4 : 0)...512).contains(size) {
            throw Failure(.usage, "--size", "\(size) is not between \(serve ? 4 : 0) and 512")
        }
        guard wanted.count <= 1 else {
            throw Failure(.usage, "bench", "only one of --read, --write and --notify can be given")
        }
        if withoutResponse, write == nil { throw Failure(.usage, "--without-response", "needs --write") }
        if read != nil || notify != nil, size != nil { throw Failure(.usage, "--size", "needs --write") }
        if serve || device == nil, !wanted.isEmpty {
            throw Failure(
                .usage, "--\(read != nil ? "read" : write != nil ? "write" : "notify")", "needs a device")
        }
        if serve { try checkServing() } else if device == nil { try checkBothEnds() }
    }

    private func checkServing() throws(Failure) {
        if let device {
            throw Failure(.usage, device, "--serve takes no device: it waits for a connection")
        }
        if count != nil { throw Failure(.usage, "--count", "is for the end that measures, not for --serve") }
    }

    private func checkBothEnds() throws(Failure) {
        if case .virtual? = try global.radio.adapter() { return }
        throw Failure(
            .usage, "bench", "no device is given",
            hint:
                "with --adapter virtual both ends run here; otherwise run bletool bench --serve on the other "
                + "machine, and give name:Bench"
        )
    }

    func run(_ radio: Radio) async throws(Failure) {
        if serve { return try await beServed(by: radio) }
        try await pairing.outOfBand.writeOffer(of: radio)
        guard let device else { return try await runBothEnds(radio) }
        try await measure(try .parsed(device), radio)
    }

    private func beServed(by radio: Radio) async throws(Failure) {
        let server = BenchServer(radio.adapter, size: size)
        let ready = try await radio.attempt { () throws(BLEError) in try await server.start() }
        guard radio.console.show(ready) else { return }
        let limit = radio.limit(try bletool.duration(duration, of: "--duration"))
        _ = try await radio.attempt { () throws(BLEError) in
            try await radio.limitedWhileRead(limit) { [console = radio.console] () throws(BLEError) in
                try await server.serve { console.show(ServerEvent($0)) }
            }
        }
    }

    /// Runs the server on a second virtual adapter, and the client on the command's adapter.
    private func runBothEnds(_ radio: Radio) async throws(Failure) {
        let other = try await radio.attempt { () throws(BLEError) in
            try await Adapter.open(
                .virtual(name: nil),
                options: AdapterOptions(airLauncher: .detached))
        }
        let server = BenchServer(other, size: size)
        let serving = Task(executorPreference: other.loop) {
            do throws(BLEError) { try await server.serve { _ in } } catch {}
        }
        let result: Result<Void, Failure>
        do throws(Failure) {
            _ = try await radio.attempt { () throws(BLEError) in try await server.start() }
            result = .success(try await measure(.address(await other.address), radio))
        } catch {
            result = .failure(error)
        }
        serving.cancel()
        await other.close()
        await serving.value
        try result.get()
    }

    private func measure(_ selector: DeviceSelector, _ radio: Radio) async throws(Failure) {
        let peripheral = try await radio.connect(
            to: selector, try link.connection(), within: try link.timeLimit())
        try await radio.ending(peripheral) { () throws(Failure) in
            let device = ConnectedDevice(peripheral: peripheral, radio: radio)
            guard wanted.isEmpty else {
                guard
                    let attribute = try await device.resolve(
                        wanted, describing: true, certainly: read == nil
                    ).first
                else { return }
                return try await measure(try operation(on: attribute), attribute, device)
            }
            for (operation, attribute) in try await ownServer(device) {
                try await measure(operation, attribute, device)
            }
        }
    }

    /// Returns the operations to measure, with their attributes, if the other end runs `bench --serve`.
    private func ownServer(
        _ device: ConnectedDevice
    ) async throws(Failure) -> [(BenchEvent.Operation, RemoteAttribute)] {
        let database = try await device.discover()
        func attribute(_ uuid: BluetoothUUID) throws(Failure) -> RemoteAttribute {
            let path = AttributePath.uuids(
                service: BenchServer.Attribute.service, characteristic: uuid, descriptor: nil)
            guard let found = database.attributes(path).first else {
                throw Failure(
                    .usage, "bench", "give the attribute to measure with --read, --write or --notify",
                    hint: "only a device that runs bletool bench --serve is measured without one")
            }
            return found
        }
        let (sink, source) = (
            try attribute(BenchServer.Attribute.sink), try attribute(BenchServer.Attribute.source)
        )
        return [
            (.read, try attribute(BenchServer.Attribute.count)), (.write, sink),
            (.writeWithoutResponse, sink),
            (.notification, source),
        ]
    }

    private func measure(
        _ operation: BenchEvent.Operation, _ attribute: RemoteAttribute, _ device: ConnectedDevice
    ) async throws(Failure) {
        let (meter, what) = (Meter(), attribute.uuid.map { "\($0)" } ?? "\(attribute.handle)")
        let limit = try bletool.duration(duration, of: "--duration") ?? .seconds(5)
        let room = try await device.attempt(what) { [peripheral = device.peripheral] () throws(BLEError) in
            try await peripheral.maximumWriteLength
        }
        let value = [UInt8](repeating: 0x55, count: size ?? min(room, 512))
        let (peripheral, most) = (device.peripheral, count ?? .max)
        let before = try await arrivals(operation, device)
        _ = try await device.radio.attempt(what) { () throws(BLEError) in
            try await device.radio.limited(limit) { () throws(BLEError) in
                try await meter.run(operation, attribute, value, on: peripheral, atMost: most)
            }
        }
        let after = try await arrivals(operation, device)
        if after != nil { meter.end() }
        let parameters = try await device.attempt(what) { () throws(BLEError) in
            try await peripheral.connection.parameters
        }
        var event = meter.event(operation, attribute, parameters)
        if let before, let after { event.arrived = Int(clamping: after &- before) }
        device.console.show(event)
        guard let count, meter.operations < count, duration == nil else { return }
        throw Failure(.timeout, "bench", "\(meter.operations) of \(count) were done in \(limit.text)")
    }

    /// Returns the number of octets that the other end's sink has received, which is the only confirmation of
    /// writes without response: the answer follows everything that was written before. Returns nil for other
    /// operations, for an attribute of the command line, and if the other end is not `bench --serve`.
    private func arrivals(
        _ operation: BenchEvent.Operation, _ device: ConnectedDevice
    ) async throws(Failure) -> UInt64? {
        guard operation == .writeWithoutResponse, wanted.isEmpty else { return nil }
        let database = try await device.discover()
        guard let count = database.characteristics(BenchServer.Attribute.count).first else { return nil }
        return try await device.attempt("bench") { [peripheral = device.peripheral] () throws(BLEError) in
            UInt64(littleEndian: try await peripheral.read(count.valueHandle))
        }
    }

    private func operation(on attribute: RemoteAttribute) throws(Failure) -> BenchEvent.Operation {
        if read != nil { return .read }
        if let write {
            // As in gatt write, a handle is used as it is.
            guard let properties = attribute.characteristic?.properties, attribute.isValue,
                case .uuids? = try ConnectedDevice.paths(wanted).first
            else { return withoutResponse ? .writeWithoutResponse : .write }
            guard !withoutResponse || properties.contains(.writeWithoutResponse) else {
                throw Failure(
                    .input, write, "its server drops writes without a response",
                    hint: "to write it all the same, give its handle, \(attribute.handle)")
            }
            let isOnlyCommand = !properties.contains(.write) && properties.contains(.writeWithoutResponse)
            return withoutResponse || isOnlyCommand ? .writeWithoutResponse : .write
        }
        guard let properties = attribute.characteristic?.properties, attribute.isValue,
            !properties.isDisjoint(with: .anyNotification)
        else { throw Failure(.input, wanted.joined(), "neither notifies nor indicates") }
        return properties.contains(.notify) ? .notification : .indication
    }
}
