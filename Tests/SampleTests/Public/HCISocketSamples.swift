import BLE

/// Samples of the module HCISocket.
struct HCISocketSamples {
    func run() throws {
        // Sources/HCISocket/EventLoop/EventLoop.swift
        actor Port {
            nonisolated let loop: EventLoop
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

            init(on loop: EventLoop) { self.loop = loop }
        }
        let port = Port(on: try EventLoop())
        // .
        handle(port)
    }
}
