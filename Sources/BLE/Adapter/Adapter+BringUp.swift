import BLECore
import HCI

extension Adapter {
    /// Learns what the controller is, and when it is ours alone sets it up by the book: reset, masks,
    /// buffers, address (Core Specification 5.4, Vol 6, Part D, 2).
    func bringUp(staticAddress: DeviceAddress?) async throws(BLEError) {
        if kernel == nil { _ = try await send(Reset()) }
        capabilities.version = try await send(ReadLocalVersionInformation())
        capabilities.commands = try await send(ReadLocalSupportedCommands()).value
        capabilities.features = try await send(LEReadLocalSupportedFeatures()).value
        guard kernel == nil else { return }

        _ = try await send(SetEventMask(.host))
        _ = try await send(LESetEventMask(.host))
        try await readBuffers()
        let publicAddress = try await send(ReadBDADDR()).value
        if publicAddress == 0 || staticAddress != nil {
            let address = staticAddress ?? .randomStatic(UInt64.random(in: .min ... .max))
            _ = try await send(LESetRandomAddress(address.value))
            identity = address
        } else {
            identity = DeviceAddress(publicAddress, type: .public)
        }
    }

    /// How much data the controller takes: LE's own buffers, or those it shares with BR/EDR.
    private func readBuffers() async throws(BLEError) {
        let own = try await send(LEReadBufferSize())
        if own.length > 0, own.count > 0 {
            acl.configure(packetLength: Int(own.length), packets: Int(own.count))
            return
        }
        let shared = try await send(ReadBufferSize())
        acl.configure(packetLength: Int(shared.aclLength), packets: Int(shared.aclCount))
    }
}
