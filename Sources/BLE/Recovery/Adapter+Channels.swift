import BLECore
import HCI
import HCISocket

/// Notices when another program has the channel of a central's link: the kernel gives it to the newest listener.
extension Adapter {
    /// How long the kernel has to hand the channel of a new link over: 2 s, though it does so at once.
    private static let handOver = Duration.seconds(2)

    /// A central has connected to the kernel: a server of this process expects its channel.
    func expectChannel(of connection: ConnectionHandle) {
        guard kernel?.isListening ?? false else { return }
        Task(executorPreference: loop) { [loop, weak self] in
            guard await loop.sleep(for: Self.handOver) else { return }
            await self?.missChannel(of: connection)
        }
    }

    private func missChannel(of connection: ConnectionHandle) async {
        guard let kernel = kernel?.kernel, end == nil, kernelLinks.lacksChannel(connection) else { return }
        let daemon = await kernel.bluetoothDaemon()
        note(.centralTaken(by: daemon))
    }
}
