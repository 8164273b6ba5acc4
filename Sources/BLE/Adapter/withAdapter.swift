import BLECore
import Glibc
import HCISocket

/// Opens an adapter for as long as `body` runs, and closes it however that ends: scans and advertising stop,
/// links end, a kernel adapter that was off is off again. It is what a program's `main` does:
///
/// ```swift
/// try await withAdapter(.virtual(name: "kitchen")) { adapter in
///     for try await found in CentralManager(adapter).scan() { print(found) }
/// }
/// ```
///
/// SIGINT and SIGTERM, or the signals of `endedBy`, cancel the task of `body`; when that has returned and the
/// adapter is closed, the process ends by the signal. What managers keep to be restored stays on the disk
/// then (`keepForNextStart`), so that a service that is restarted, or a reboot, finds it. With an empty list
/// the signals are the caller's business. At most one call at a time may catch signals.
///
/// - Parameters:
///   - specification: the adapter; nil is the first one of the kernel.
///   - options: how to open it.
///   - signals: what ends the program.
///   - body: what it does.
/// - Throws: `BLEError` when the adapter cannot be opened, and what `body` throws.
public func withAdapter<Success: Sendable>(
    _ specification: AdapterSpecification? = nil, options: AdapterOptions = AdapterOptions(),
    endedBy signals: [CInt] = [SIGINT, SIGTERM],
    _ body: @escaping @Sendable (Adapter) async throws -> Success
) async throws -> Success {
    let opened = Lock<Adapter?>(nil)
    let run = { @Sendable () async throws -> Success in
        let wanted: AdapterSpecification
        if let specification { wanted = specification } else { wanted = try await .firstKernelAdapter() }
        let adapter = try await Adapter.open(wanted, options: options)
        opened.withLock { $0 = adapter }
        do {
            let result = try await body(adapter)
            await adapter.close()
            return result
        } catch {
            await adapter.close()
            throw error
        }
    }
    guard !signals.isEmpty else { return try await run() }
    return try await SignalWatch.result(
        cancelledBy: signals, on: options.loop,
        onSignal: { _ in opened.withLock { $0 }?.keepForNextStart() }, run
    ).get()
}

extension AdapterSpecification {
    /// The first adapter of the kernel, one that no other process has to itself where there is one.
    ///
    /// - Throws: `BLEError.adapter(.noAdapter)` when there is none, and why the kernel does not say what it has.
    public static func firstKernelAdapter() async throws(BLEError) -> Self {
        let all = try await Adapter.list()
        // One that another process has to itself would do as little as none.
        let first = all.first { $0.availability == .available } ?? all.first
        guard let first else { throw .adapter(.noAdapter) }
        return .kernel(.index(first.index))
    }
}
