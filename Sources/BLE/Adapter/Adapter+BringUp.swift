import BLECore
import HCI

extension Adapter {
    /// Learns what the controller is and, when it is ours alone, sets it up by the book: reset, masks,
    /// buffers, address (Core Specification 5.4, Vol 6, Part D, 2).
    func bringUp(staticAddress: DeviceAddress?) async throws(BLEError) {
        if kernel == nil { _ = try await send(Reset()) }
        capabilities.version = try await send(ReadLocalVersionInformation())
        capabilities.commands = try await send(ReadLocalSupportedCommands()).value
        capabilities.features = try await send(LEReadLocalSupportedFeatures()).value
        guard kernel == nil else { return }

        _ = try await send(SetEventMask(mask: .host))
        _ = try await send(LESetEventMask(mask: .host))
        try await readBuffers()
        let publicAddress = try await send(ReadBDADDR()).address
        guard publicAddress.value == 0 || staticAddress != nil else {
            identity = publicAddress
            return
        }
        let address = staticAddress ?? .randomStatic(UInt64.random(in: .min ... .max))
        _ = try await send(LESetRandomAddress(address: address))
        identity = address
    }

    /// How much data the controller takes: LE's own buffers, or those that it shares with BR/EDR.
    private func readBuffers() async throws(BLEError) {
        let own = try await send(LEReadBufferSize())
        if own.aclLength > 0, own.aclPackets > 0 {
            acl.configure(packetLength: Int(own.aclLength), packets: Int(own.aclPackets))
        } else {
            let shared = try await send(ReadBufferSize())
            acl.configure(packetLength: Int(shared.aclLength), packets: Int(shared.aclPackets))
        }
    }
}

extension HCIEventMask {
    /// The events that this host acts on. Those that cannot be masked are not among them.
    fileprivate static let host: HCIEventMask = [
        .disconnectionComplete, .encryptionChange, .hardwareError, .dataBufferOverflow,
        .encryptionKeyRefreshComplete, .leMeta,
    ]
}

extension LEEventMask {
    /// The subevents that this host acts on. The connection's address is wanted as it is on air, so the
    /// enhanced event stays off.
    fileprivate static let host: LEEventMask = [
        .connectionComplete, .advertisingReport, .connectionUpdateComplete, .longTermKeyRequest,
        .remoteConnectionParameterRequest, .phyUpdateComplete, .extendedAdvertisingReport,
        .advertisingSetTerminated,
    ]
}
