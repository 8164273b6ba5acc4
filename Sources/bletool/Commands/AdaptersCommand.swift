import ArgumentParser
import BLE
import BLECore

struct AdaptersCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters",
        abstract: "List the kernel's Bluetooth adapters: address, version, state, links.",
        discussion: """
            The LE devices that an adapter has links to, of whatever program, are listed to a process with CAP_NET_ADMIN, \
            but not by --watch. \
            Virtual adapters are not listed: a command with --adapter virtual makes one.
            """)

    @Flag(help: "Go on reporting adapters that come, change and go, for --timeout or until Ctrl-C.")
    var watch = false

    @OptionGroup var global: TimedOptions

    var output: OutputOptions { global.output }

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
                console.note("the kernel has no adapters; scan --adapter virtual and the like need none")
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
