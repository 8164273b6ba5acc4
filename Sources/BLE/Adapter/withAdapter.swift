import BLECore
import Glibc
import HCISocket
import Logging

/// Opens an adapter, runs `body` and closes the adapter, whether `body` returns or throws: scans and advertising
/// stop, links end, and a kernel adapter that was off is off again. A program calls it in `main`:
///
/// ```swift
/// try await withAdapter(.virtual(name: "kitchen")) { adapter in
///     for try await found in CentralManager(adapter).scan() { print(found) }
/// }
/// ```
///
/// SIGINT and SIGTERM, or the signals of `endedBy`, cancel the task of `body`. When `body` has returned and the
/// adapter is closed, the signal ends the process. The state that managers keep for restoration then stays on the
/// disk (`keepForNextStart`), so that a service finds it when it is restarted, also after a reboot. With an empty
/// list the caller handles signals itself. At most one call at a time may catch signals.
///
/// - Parameters:
///   - specification: the adapter; nil selects the kernel's first adapter.
///   - options: how to open it.
///   - reopens: whether to go on after a kernel adapter was switched off: `body` ends with
///     `BLEError.adapter(.poweredOff)`, and runs again on the adapter when another program has switched it on. The
///     wait for that is logged as a warning.
///   - signals: the signals that end the program.
///   - body: the work to do with the adapter.
/// - Throws: `BLEError` when the adapter cannot be opened, and what `body` throws.
public func withAdapter<Success: Sendable>(
    _ specification: AdapterSpecification? = nil, options: AdapterOptions = AdapterOptions(),
    reopens: Bool = false, endedBy signals: [CInt] = [SIGINT, SIGTERM],
    _ body: @escaping @Sendable (Adapter) async throws -> Success
) async throws -> Success {
    let opened = Lock<Adapter?>(nil)
    let chosen = Lock(specification)
    let once = { @Sendable () async throws -> Success in
        let wanted = chosen.withLock { $0 }
        let adapter: Adapter
        if let wanted {
            adapter = try await Adapter.open(wanted, options: options)
        } else {
            adapter = try await Adapter.open(try await .firstKernelAdapter(), options: options)
            // Another adapter can be the first one later, or have the index, and must not be switched on then.
            let address = await adapter.address.value
            chosen.withLock { $0 = .kernel(.address(address)) }
        }
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
    let run = { @Sendable () async throws -> Success in
        while true {
            do {
                return try await once()
            } catch BLEError.adapter(.poweredOff) where reopens {
                try await Adapter.untilPowered(chosen.withLock { $0 }, options)
            }
        }
    }
    guard !signals.isEmpty else { return try await run() }
    return try await SignalWatch.result(
        cancelledBy: signals, on: options.loop,
        onSignal: { _ in opened.withLock { $0 }?.keepForNextStart() }, run
    ).get()
}

extension Adapter {
    /// Waits until the kernel's adapter has power; opening it before that would switch it on.
    fileprivate static func untilPowered(
        _ specification: AdapterSpecification?, _ options: AdapterOptions
    ) async throws(BLEError) {
        Logger(label: "ble").warning("the adapter is off: waiting until it has power")
        for try await change in try await changes(of: options.kernel, on: options.loop) {
            switch change {
            case .added(let adapter), .changed(let adapter):
                if case .kernel(let wanted)? = specification, !wanted.names(adapter) { continue }
                if adapter.isPowered { return }
            case .removed: continue
            }
        }
        // The stream has ended because the task was cancelled.
        throw .cancelled
    }
}

extension AdapterSpecification {
    /// Returns the kernel's first adapter that can be used: one that is available, supports LE and is not
    /// blocked by rfkill. When there is none, returns the first one that is available, else the first one.
    ///
    /// - Throws: `BLEError.adapter(.noAdapter)` when the kernel has no adapter; what `Adapter.list()` throws when
    ///   the adapters cannot be listed.
    public static func firstKernelAdapter() async throws(BLEError) -> Self {
        guard let first = first(of: try await Adapter.list(), with: SystemFiles().radioSwitches) else {
            throw .adapter(.noAdapter)
        }
        return .kernel(.index(first.index))
    }

    static func first(of all: [AdapterDescription], with switches: [RadioSwitch]) -> AdapterDescription? {
        all.first { $0.isUsable(with: switches) } ?? all.first { $0.availability == .available } ?? all.first
    }
}
