import ATT
import BLECore
import GATTClient

/// The steps from a scan, or from a known device, to a value, in one expression. Nothing happens until the last step is called, which
/// waits for all of them: the scan, the connection, the value, and the end of the link. The failure of a step is
/// a `ChainError` that names it, and is reported to the channel. Cancelling the task ends the step under way and
/// frees the radio.
public struct Chain: Sendable {
    private let channel: Channel
    private let options: ScanOptions
    /// The device to connect to without a scan; nil if a scan finds it.
    private let known: Peripheral.Identifier?
    private var watch: @Sendable (Advertisement) -> Void = { _ in }
    private var filters: [@Sendable (Advertisement) -> Bool] = []
    private var limit: Duration?
    private var connection = ConnectionOptions()
    private var timeout: Duration? = .seconds(20)
    var admits: @Sendable (Advertisement) -> Bool = { _ in true }

    init(_ channel: Channel, _ options: ScanOptions) {
        self.channel = channel
        self.options = options
        known = nil
    }

    /// Creates a chain to a known device.
    init(_ channel: Channel, to id: Peripheral.Identifier) {
        self.channel = channel
        var options = ScanOptions()
        options.addresses = [AddressFilter(id.address)]
        self.options = options
        known = id
    }

    var central: CentralManager { channel.central }

    /// Limits the scan to devices whose advertisements `isWanted` accepts. When it is called several times, a
    /// device has to pass all filters.
    public func `where`(_ isWanted: @escaping @Sendable (Advertisement) -> Bool) -> Chain {
        var chain = self
        chain.filters.append(isWanted)
        return chain
    }

    /// Calls `body` for every packet that the scan receives, before the filters of `where` and `connect` are applied:
    /// for a list of what is near. The options of the scan have been applied.
    public func onFound(_ body: @escaping @Sendable (Advertisement) -> Void) -> Chain {
        var chain = self
        chain.watch = { [watch] found in
            watch(found)
            body(found)
        }
        return chain
    }

    /// Sets a time limit for the scan; without a call the scan has none.
    public func within(_ limit: Duration) -> Chain {
        var chain = self
        chain.limit = limit
        return chain
    }

    /// Sets how to connect. The chain connects only to devices that accept connections and for which `admits`
    /// returns true.
    public func connect(
        timeout: Duration? = .seconds(20), options: ConnectionOptions = ConnectionOptions(),
        where admits: @escaping @Sendable (Advertisement) -> Bool = { _ in true }
    ) -> Chain {
        var chain = self
        chain.timeout = timeout
        chain.connection = options
        chain.admits = admits
        return chain
    }

    /// Reports a packet that the scan received, and returns whether it passes the filters.
    func isWanted(_ found: Advertisement) -> Bool {
        watch(found)
        return filters.allSatisfy { $0(found) }
    }

    private func mayConnect(to found: Advertisement) -> Bool { found.isConnectable && admits(found) }
}

// MARK: - Ends

extension Chain {
    /// Returns the first advertisement that passes the filters of the scan.
    public func first() async throws(ChainError) -> Advertisement {
        try await find { isWanted($0) }
    }

    /// Connects to the first device that passes all filters, runs `body` and disconnects.
    public func use<Result: Sendable>(
        _ body: @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async throws(ChainError) -> Result {
        try await perform(.use, body)
    }

    /// Connects if necessary and reads a characteristic. Throws `ChainError`, which names the step that
    /// failed.
    public func read<Value>(_ key: CharacteristicKey<Value>) async throws(ChainError) -> Value {
        try await perform(.read) { (device) throws(BLEError) in try await device.read(key) }
    }

    /// Writes the value of a characteristic.
    public func write<Value>(
        _ value: Value, to key: CharacteristicKey<Value>, type: WriteType = .withResponse
    ) async throws(ChainError) {
        try await perform(.write) { (device) throws(BLEError) in
            try await device.write(value, to: key, type: type)
            // A write without response is complete when it has been sent.
            if type == .withoutResponse { try await device.waitUntilSent() }
        }
    }

    /// Subscribes to a characteristic and calls `body` with each value, until `body` returns false. The end of
    /// the link before that is a failure.
    public func values<Value>(
        of key: CharacteristicKey<Value>, _ body: @Sendable (Value) async throws(BLEError) -> Bool
    ) async throws(ChainError) {
        try await perform(.values) { (device) throws(BLEError) in
            for try await value in try await device.values(of: key) {
                guard try await body(value) else { return }
            }
        }
    }

    /// Connects if necessary, discovers everything, and reads every value that can be read.
    public func readAll() async throws(ChainError) -> DatabaseValues {
        try await perform(.read) { (device) throws(BLEError) in try await device.readAll() }
    }

    private func perform<Result: Sendable>(
        _ step: ChainStep, _ body: @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async throws(ChainError) -> Result {
        if let known { return try await use(known, step, body) }
        let found = try await find { isWanted($0) && mayConnect(to: $0) }
        guard let id = found.id else { throw fail(.connect, nil, .notFound(.address)) }
        return try await use(id, step, body)
    }

    private func find(
        _ isMeant: @escaping @Sendable (Advertisement) -> Bool
    ) async throws(ChainError) -> Advertisement {
        let found = try await during(.scan, nil) { () throws(BLEError) in
            try await central.first(options, within: limit, where: isMeant)
        }
        channel.emit(.found(found))
        return found
    }
}

// MARK: - Steps

extension Chain {
    /// Connects to a device, runs `body` and disconnects.
    func use<Result: Sendable>(
        _ id: Peripheral.Identifier, _ step: ChainStep,
        _ body: @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async throws(ChainError) -> Result {
        let device = try await during(.connect, id) { () throws(BLEError) in
            try await central.connect(to: id, timeout: timeout, options: connection)
        }
        do throws(ChainError) {
            let result = try await during(step, id) { () throws(BLEError) in
                let result = try await body(device)
                // `body` may have written without response, so wait until that is sent. Other steps do not
                // wait for the writes of other users of the same link.
                if step == .use { try await device.waitUntilSent() }
                return result
            }
            await device.disconnect()
            return result
        } catch {
            await device.disconnect()
            throw error
        }
    }

    private func during<Result: Sendable>(
        _ step: ChainStep, _ id: Peripheral.Identifier?, _ body: () async throws(BLEError) -> Result
    ) async throws(ChainError) -> Result {
        channel.emit(.began(step, id))
        do throws(BLEError) {
            let result = try await body()
            channel.emit(.done(step, id))
            return result
        } catch {
            throw fail(step, id, error)
        }
    }

    func fail(_ step: ChainStep, _ id: Peripheral.Identifier?, _ error: BLEError) -> ChainError {
        let failure = ChainError(channel: channel.name, step: step, device: id, error: error)
        channel.emit(.failed(failure))
        return failure
    }
}

extension Chain {
    /// Connects to the first `count` devices that pass all filters, each as soon as it is found, and runs `body`
    /// with all of them at the same time. Returns the outcome of each device when all are done. If the time limit
    /// of the scan passes, the result contains the devices that were found by then; throws a failure of the scan
    /// if there are none. The same applies when the scan itself fails, which is reported to the channel.
    ///
    /// ```swift
    /// let levels = try await central.chain { $0.services = [.batteryService] }.within(.seconds(10))
    ///     .each(3) { (device) throws(BLEError) in try await device.read(.batteryLevel) }
    /// ```
    public func each<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async throws(ChainError) -> [Peripheral.Identifier: Swift.Result<Result, ChainError>] {
        guard count > 0 else { return [:] }
        channel.emit(.began(.scan, nil))
        let stream = central.search(options)
        let timer = Task(executorPreference: central.adapter.loop) {
            if let limit, await central.adapter.loop.sleep(for: limit) { stream.buffer.finish() }
        }
        defer { timer.cancel() }
        typealias Outcome = (Peripheral.Identifier, Swift.Result<Result, ChainError>)
        let (outcomes, problem) = await withTaskGroup(of: Outcome.self) { group in
            var begun: Set<Peripheral.Identifier> = []
            var problem: BLEError?
            do throws(BLEError) {
                for try await found in stream where isWanted(found) && mayConnect(to: found) {
                    guard let id = found.id, begun.insert(id).inserted else { continue }
                    channel.emit(.found(found))
                    group.addTask { (id, await outcome(of: id, body)) }
                    if begun.count >= count { break }
                }
            } catch {
                problem = error
            }
            stream.buffer.abandon()
            var outcomes: [Peripheral.Identifier: Swift.Result<Result, ChainError>] = [:]
            for await (id, outcome) in group { outcomes[id] = outcome }
            return (outcomes, problem)
        }
        let none = outcomes.isEmpty ? BLEError.notFound(.device(within: limit)) : nil
        guard let failure = problem ?? none else {
            channel.emit(.done(.scan, nil))
            return outcomes
        }
        let error = fail(.scan, nil, failure)
        if outcomes.isEmpty { throw error }
        return outcomes
    }

    private func outcome<Result: Sendable>(
        of id: Peripheral.Identifier, _ body: @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async -> Swift.Result<Result, ChainError> {
        do throws(ChainError) {
            return .success(try await use(id, .use, body))
        } catch {
            return .failure(error)
        }
    }
}
