import ATT
import BLE
import BLECore
import GATTClient

/// Reads the server of a device: first without security, to find what requires it, then at the required
/// levels.
struct DeviceReader: Sendable {
    let device: ConnectedDevice

    /// Reads the image of the device, on a link that is not encrypted at first. Where it must prove that it has the
    /// key of its bond, the link is encrypted with it before the image is complete, because another device could
    /// use the address.
    func image(mtu: Int?, provingKey: Bool) async throws(Failure) -> DeviceImage {
        let database = try await device.discover()
        var image = DeviceImage(address: device.peripheral.address, mtu: mtu, database: database)
        var missing: [AttributeHandle] = []
        for handle in DeviceImage.readable(database) {
            image.shown[handle] = try await shown(handle, at: .open)
            if image.shown[handle]?.needsSecurity == true { missing.append(handle) }
        }
        if provingKey {
            try await device.attempt("dump") { [peripheral = device.peripheral] () throws(BLEError) in
                try await peripheral.proveIdentity()
            }
            for (handle, open) in image.shown.sorted(by: { $0.key < $1.key }) where open.value != nil {
                var again = try await shown(handle, at: .encrypted)
                again.level = open.level
                image.shown[handle] = again
            }
        }
        for level in [SecurityLevel.encrypted, .authenticated] where !missing.isEmpty {
            if let reason = try await problem(reaching: level) {
                for handle in missing { image.shown[handle]?.reason? += "; \(reason)" }
                break
            }
            var refused: [AttributeHandle] = []
            for handle in missing {
                let shown = try await shown(handle, at: level)
                image.shown[handle] = shown
                if shown.needsSecurity { refused.append(handle) }
            }
            missing = refused
        }
        return image
    }

    private func shown(
        _ handle: AttributeHandle, at level: SecurityLevel
    ) async throws(Failure) -> DeviceImage.Shown {
        try await device.attempt("\(handle)") { [peripheral = device.peripheral] () throws(BLEError) in
            do throws(BLEError) {
                let value = try await peripheral.read(handle, raisingSecurity: false)
                return DeviceImage.Shown(value: value, level: level)
            } catch .att(let refusal) {
                return DeviceImage.Shown(refusal.code, at: level)
            } catch .peerMisbehaved(.answer(let request, let misbehavior)) {
                let problem = BLEError.peerMisbehaved(.answer(to: request, misbehavior))
                return DeviceImage.Shown(reason: "\(problem)", level: level)
            }
        }
    }

    /// Pairs to reach a security level. Returns the reason if that is not possible, otherwise nil.
    private func problem(reaching level: SecurityLevel) async throws(Failure) -> String? {
        try await device.attempt("pairing") { [peripheral = device.peripheral] () throws(BLEError) in
            do throws(BLEError) {
                _ = try await peripheral.pair(level)
                return nil
            } catch {
                switch error {
                case .disconnected, .cancelled, .timedOut, .adapter: throw error
                default: return "\(error)"
                }
            }
        }
    }
}

extension DeviceImage.Shown {
    /// Creates the result of a rejected read on a link with the level `present`.
    init(_ code: ATTErrorCode, at present: SecurityLevel) {
        reason = "\(code)"
        switch code {
        case .insufficientEncryption: level = .encrypted
        // The error does not specify which authentication is missing. On an encrypted link, it is a higher
        // level.
        case .insufficientAuthentication: level = present == .open ? .encrypted : .authenticated
        case .encryptionKeySizeTooShort: needsLongKey = true
        case .readNotPermitted: isUnreadable = true
        default: break
        }
    }

    /// Whether the value may be readable at a higher security level.
    fileprivate var needsSecurity: Bool { value == nil && level != .open }
}
