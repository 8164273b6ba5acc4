import ArgumentParser
import BLE
import BLECore
import HCISocket

struct ScanCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Scan: show what advertises nearby.",
        discussion: """
            A device is shown when it is new and when its data changes, unless --repeats selects other packets. A \
            scan response has a line of its own, which also has the fields of the advertisement; the line of \
            the advertisement may lack the name. With --json its "data" is the scan response alone. On a \
            terminal, devices are shown in a live table; ? shows its keys, c connects to a device as `gatt \
            DEVICE -i` does, and q ends it. Beacons are shown decoded.

            Of several filters of the same kind, a device must match one; of filters of different kinds, it \
            must match all.

            Faults of the controller and the recovery from them are reported on stderr, and with --json as \
            objects whose "event" is "health".

            --count that is not reached within --timeout ends with exit status 2; --duration that ends, with 0.
            """)

    @OptionGroup var scan: ScanArguments

    @Option(
        parsing: .unconditional, help: ArgumentHelp("End after this many advertisements.", valueName: "count")
    )
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @OptionGroup var state: StateOptions
    @OptionGroup var global: GlobalOptions

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await state.security(console, global)
    }

    var usesExtendedCommands: Bool { scan.extended != .off }

    func check() throws(Failure) {
        _ = try scan.options()
        _ = try scan.keys()
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let duration = try bletool.duration(duration, of: "--duration")
        let keys = try scan.keys()
        let table = LiveTable(radio.console, on: radio.adapter.loop)
        // A table counts packets, so it receives repeated ones, too. They take no room, because a table shows
        // only the last packet of each device.
        let options = try scan.options(repeats: table != nil && count == nil ? .all : .changes)
        let connectable = Lock<Set<DeviceAddress>>([])
        let devices = Lock<Set<DeviceAddress>>([])
        let (console, wanted, shown, ending) = (radio.console, count, Counter(), Lock<LiveTable.Ending?>(nil))
        let stream = radio.central.scan(options)
        radio.health.showAmongResults()
        let scan: @Sendable () async throws(BLEError) -> Void = { () throws(BLEError) in
            for try await found in stream {
                if let address = found.identity ?? found.address {
                    devices.withLock { if $0.count < ScanTable.limit { $0.insert(address) } }
                }
                if found.isConnectable, let address = found.address {
                    connectable.withLock { if $0.count < LastScan.limit { $0.insert(address) } }
                }
                let event = AdvertisementEvent(found, at: radio.time(of: found.received), keys: keys)
                if let table {
                    await table.note(event)
                } else {
                    guard console.show(event) else { return }
                }
                if shown.increment() == wanted { return }
            }
        }
        await table?.begin()
        let outcome = await radio.outcome { () throws(BLEError) in
            try await radio.limitedWhileRead(radio.limit(duration), scan) {
                // Without a table, no key can end the scan.
                guard let table else { return await Interruption.wait() }
                let chosen = await table.run()
                ending.withLock { $0 = chosen }
            }
        }
        // A user who ends the table with a key has seen the devices.
        await table?.finish(leavingDevices: ending.withLock { $0 == nil })
        LastScan().keep(connectable.withLock { $0 })
        let loss = ScanLossEvent(
            dropped: stream.dropped, evicted: await radio.central.scanStatistics.evictions)
        if !loss.isNone { loss.show(on: console) }
        switch try (outcome.get(), ending.withLock { $0 }) {
        case (_, .quit?): return
        case (_, .connect(let address)?): try await open(address, radio)
        // Without --count, the time limit is only the length of the scan.
        case (let isDone, nil):
            let found = wanted.map { "\(shown.value) of \($0) found" }
            if !isDone, radio.isTimeout(before: duration), let found {
                throw Failure(.timeout, "scan", "\(found) in \(radio.timeLimit?.text ?? "time")")
            }
            guard table == nil, !console.isJSON else { return }
            if let found {
                if !isDone { console.note("scan: \(found)") }
            } else {
                let count = devices.withLock { $0.count }
                let text = count == ScanTable.limit ? "\(count) devices or more" : "\(count) devices"
                console.note("scan: \(count == 1 ? "1 device" : text)")
            }
        }
    }

    /// Opens the shell on the device that the user chose in the table.
    private func open(_ address: DeviceAddress, _ radio: Radio) async throws(Failure) {
        let shell: GATTShellCommand
        do {
            shell = try GATTShellCommand.parse(["\(address)"])
        } catch {
            throw Failure(.usage, "gatt", "\(error)")
        }
        radio.console.note("gatt \(address) -i")
        try await shell.run(radio)
    }
}

extension AdvertisementEvent {
    /// Creates the event for a received advertisement.
    init(_ advertisement: Advertisement, at time: Timestamp, keys: BindKeys = BindKeys()) {
        let report = advertisement.report
        self.init(
            address: report.address, identity: advertisement.identity, rssi: report.rssi,
            isConnectable: advertisement.isConnectable,
            isScannable: report.type.contains(.scannable),
            isScanResponse: report.type.contains(.scanResponse), isLegacy: report.type.contains(.legacy),
            primaryPHY: "\(report.primaryPHY)", secondaryPHY: report.secondaryPHY.map { "\($0)" },
            set: report.sid, txPower: report.txPower, fields: advertisement.fields, payload: report.data,
            time: time,
            isTruncated: advertisement.isTruncated, periodicInterval: report.periodicInterval?.duration,
            keys: keys, companyName: Names.company, serviceName: Names.name)
    }
}
