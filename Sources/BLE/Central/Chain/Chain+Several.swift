import BLECore

extension Chain {
    /// Connects to the first `count` devices that pass all filters, each as soon as it is found, and runs `body` with
    /// all of them at once. Returns when all are done: what came of each, in no order. When the time of the scan is over,
    /// those count that were found until then; none is a failure of the scan. So they do when the scan itself fails,
    /// which is reported to the channel.
    ///
    /// ```swift
    /// let levels = try await central.chain { $0.services = [.batteryService] }.within(.seconds(10))
    ///     .each(3) { device in try await device.read(.batteryLevel) }
    /// ```
    public func each<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Peripheral) async throws(BLEError) -> Result
    ) async throws(ChainError) -> [Peripheral.Identifier: Swift.Result<Result, ChainError>] {
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
