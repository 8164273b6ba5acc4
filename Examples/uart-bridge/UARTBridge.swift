import BLE
import ExampleSupport
import Glibc

/// A serial line over Bluetooth LE with the Nordic UART Service: input is sent to all subscribed centrals,
/// and the octets that they send are printed.
///
///     uart-bridge [ADAPTER [NAME]]
@main enum UARTBridge {
    static func main() async {
        await Program.run { adapter, arguments in
            let manager = PeripheralManager(adapter)
            let uart = try await manager.serveUART()
            var content = AdvertisingContent()
            content.name = arguments.first ?? "UART"
            content.services = [.nordicUARTService]
            try await manager.withAdvertising(content) {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask {
                        for try await (_, octets) in uart.received { Program.print(octets: octets) }
                    }
                    tasks.addTask { try await send(what: STDIN_FILENO, over: uart, of: manager) }
                    while try await tasks.next() != nil {}
                }
            }
        }
    }

    /// Sends the input until it ends; the other direction then stays open.
    private static func send(
        what input: CInt, over uart: UARTServer, of manager: PeripheralManager
    ) async throws {
        let loop = manager.adapter.loop
        while true {
            // Waiting does not block a thread. Input that cannot be polled, such as a file, counts as ready.
            _ = await loop.readiness(of: input, for: .read)
            if Task.isCancelled { return }
            var octets = [UInt8](repeating: 0, count: 4096)
            let count = read(input, &octets, octets.count)
            guard count > 0 else { return }
            for subscriber in await manager.subscribers(of: uart.transmitHandle) {
                _ = try await uart.send(Array(octets[..<count]), to: subscriber.central)
            }
        }
    }
}
