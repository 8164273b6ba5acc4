import ArgumentParser
import BLE
import BLECore

struct AdaptersCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters",
        abstract: "List the kernel's Bluetooth adapters: address, version, state, links.",
        discussion: """
            With CAP_NET_ADMIN, each adapter is listed with the LE devices that are connected to it, \
            whichever program connected them; --watch does not list them. Virtual adapters are not listed: a \
            command with --adapter virtual creates one.
            """)

    @Flag(help: "Keep reporting adapters that are added, changed or removed, until --timeout or Ctrl-C.")
    var watch = false

    @OptionGroup var global: TimedOptions

    var output: OutputOptions { global.output }
    var usesKernelAdapters: Bool { true }

    func perform(_ console: Console) async throws(Failure) {
        try global.radio.refuse(for: "adapters")
        let limit = try global.time.limit()
        guard watch else { return try await list(console) }
        let result = await Interruption.result { () throws(Failure) in try await follow(console, limit) }
        try result.get()
    }

    private func list(_ console: Console) async throws(Failure) {
        do throws(BLEError) {
            let adapters = try await Adapter.list()
            for adapter in adapters { console.show(AdapterEvent(adapter: adapter)) }
            if adapters.isEmpty {
                console.note("the kernel has no adapters; --adapter virtual works without one")
            }
        } catch {
            throw Failure(error, while: "adapters")
        }
    }

    private func follow(_ console: Console, _ limit: Duration?) async throws(Failure) {
        do throws(BLEError) {
            let changes = try await Adapter.changes()
            let watching = Task { () -> BLEError? in
                do throws(BLEError) {
                    for try await change in changes where !console.show(AdapterEvent(change)) { break }
                    return nil
                } catch {
                    return error
                }
            }
            let clock = Task {
                await Interruption.wait(limit)
                watching.cancel()
            }
            let problem = await withTaskCancellationHandler {
                await watching.value
            } onCancel: {
                watching.cancel()
            }
            clock.cancel()
            if let problem, problem != .cancelled { throw problem }
        } catch {
            throw Failure(error, while: "adapters")
        }
    }
}
