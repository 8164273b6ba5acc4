import ArgumentParser
import BLE
import BLECore
import HCI
import HCISocket

struct SyncCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Follow the periodic advertising of a device.",
        discussion: """
            Finds the device and its periodic advertising train, and shows the data of each packet. The \
            controllers of both sides must support extended and periodic advertising. A kernel adapter has to \
            be given as user:hci0 (the HCI user channel), because the kernel does not share periodic trains.

            Exit status 2: the train was not found within --timeout (default: 20 s), or --count was not \
            reached within --timeout; 7: the train was lost; 0: --duration has ended.
            """)

    @Argument(help: ArgumentHelp("The device: an address or name:GLOB.", valueName: "device"))
    var device: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The advertising set, where the device has several trains: 0 to 15.", valueName: "number"))
    var sid: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The skip: successive packets that need not be received, 0 to 499.", valueName: "count"))
    var skip: String?

    @Option(
        name: .customLong("lost-after"),
        help: ArgumentHelp(
            "The synchronization timeout, 100ms to 163.84s. (default: 20s)", valueName: "duration"))
    var lostAfter: String?

    @Option(help: ArgumentHelp("PHYs to scan on: 1m, coded, or 1m,coded.", valueName: "phys"))
    var phy = "1m"

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this many reports.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @OptionGroup var state: StateOptions
    @OptionGroup var global: GlobalOptions

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await state.security(console, global)
    }

    func check() throws(Failure) {
        _ = try options()
        _ = try wantedSet()
        _ = try selector()
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let duration = try bletool.duration(duration, of: "--duration")
        var options = try options()
        let search = radio.timeLimit ?? .seconds(20)
        let began = radio.adapter.loop.now
        let (address, set) = try await find(on: radio, options, within: search)
        // The time limit applies to the search and the synchronization together.
        let passed = began.duration(until: radio.adapter.loop.now)
        options.establishing = search - passed
        let left = radio.timeLimit.map { $0 - passed }
        let (console, wanted, shown) = (radio.console, count, Counter())
        radio.health.showAmongResults()
        let stream = radio.central.periodicAdvertising(of: address, set: set, options: options)
        let follow: @Sendable () async throws(BLEError) -> Void = { () throws(BLEError) in
            for try await packet in stream {
                guard console.show(PeriodicEvent(packet: packet, time: radio.time(of: packet.received)))
                else { return }
                if shown.increment() == wanted { return }
            }
        }
        let ended = try await radio.attempt { () throws(BLEError) in
            try await radio.limitedWhileRead([duration, left].compactMap(\.self).min(), follow)
        }
        let isTimeout = if let duration { left.map { $0 < duration } ?? false } else { true }
        guard !ended, isTimeout, let wanted else { return }
        throw Failure(
            .timeout, "sync", "\(shown.value) of \(wanted) received in \(radio.timeLimit?.text ?? "time")")
    }

    /// Finds the device and the advertising set whose train is followed.
    private func find(
        on radio: Radio, _ options: PeriodicSyncOptions, within limit: Duration
    ) async throws(Failure) -> (DeviceAddress, UInt8) {
        let (selector, wanted) = (try selector(), try wantedSet())
        var scan = selector.scanOptions
        scan.extended = .on
        scan.phys = options.phys
        let sightings = Lock(TrainSightings())
        let found: Advertisement
        do throws(BLEError) {
            found = try await radio.central.first(scan, within: limit) { advertisement in
                sightings.withLock { $0.add(advertisement.report) }
                return advertisement.report.periodicInterval != nil
                    && (wanted == nil || advertisement.report.sid == wanted)
            }
        } catch .notFound {
            throw sightings.withLock { $0.failure(selector, wanted, within: limit) }
        } catch {
            throw Failure(error, while: "\(selector)")
        }
        guard let address = found.address, let set = found.report.sid else {
            throw Failure(.notFound, "\(selector)", "its advertising is anonymous")
        }
        return (address, set)
    }

    private func selector() throws(Failure) -> DeviceSelector {
        try reading("DEVICE") { try DeviceSelector(text: device) }
    }

    private func wantedSet() throws(Failure) -> UInt8? {
        try reading("--sid", sid) { UInt8(try UInt16(text: $0, in: 0...15, "an advertising set")) }
    }

    private func options() throws(Failure) -> PeriodicSyncOptions {
        var options = PeriodicSyncOptions()
        if let skip = try reading(
            "--skip", skip, { try UInt16(text: $0, in: 0...499, "the number of packets to leave out") })
        {
            options.skip = Int(skip)
        }
        if let silence = try bletool.duration(lostAfter, of: "--lost-after") {
            guard silence >= .milliseconds(100), silence <= .milliseconds(163_840) else {
                throw Failure(.usage, "--lost-after", "\(silence.text) is not within 100ms to 163.84s")
            }
            options.timeout = silence
        }
        options.phys = Set(try reading("--phy") { try [PHY](scanned: phy) })
        return options
    }
}

/// A record of the packets that a search for a periodic train received from the device, for the error message
/// if it finds no train.
struct TrainSightings {
    private var wasReceived = false
    private var sets: Set<UInt8> = []

    /// Adds a packet of the device.
    mutating func add(_ report: AdvertisingReport) {
        wasReceived = true
        if let set = report.sid { sets.insert(set) }
    }

    /// Returns the failure that there is no train of the set `wanted`, or no train at all.
    func failure(_ selector: DeviceSelector, _ wanted: UInt8?, within limit: Duration) -> Failure {
        guard wasReceived else {
            return Failure(
                .notFound, "\(selector)", "not found within \(limit.text)",
                hint: "is it advertising? bletool scan shows whether it is")
        }
        guard let wanted else { return Failure(.notFound, "\(selector)", "it has no periodic train") }
        guard !sets.contains(wanted) else {
            return Failure(.notFound, "\(selector)", "its set \(wanted) has no periodic train")
        }
        let others = sets.sorted().map { "\($0)" }.joined(lastBy: "and")
        return Failure(
            .notFound, "\(selector)", "it has no set \(wanted)",
            hint: sets.isEmpty ? nil : "it advertises \(sets.count == 1 ? "set" : "sets") \(others)")
    }
}
