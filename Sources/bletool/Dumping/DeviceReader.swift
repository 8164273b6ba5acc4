import ATT
import BLE
import BLECore
import GATTClient

/// Reads all that a device shows, first without security, to see what needs it, then with as much as it takes.
struct DeviceReader: Sendable {
    let device: ConnectedDevice

    /// The image of the device, on a link that begins without encryption.
    func image(mtu: Int?) async throws(Failure) -> DeviceImage {
        let database = try await device.discover()
        var image = DeviceImage(address: device.peripheral.address, mtu: mtu, database: database)
        var missing: [AttributeHandle] = []
        for handle in DeviceImage.readable(database) {
            image.shown[handle] = try await shown(handle, at: .open)
            if image.shown[handle]?.needsSecurity == true { missing.append(handle) }
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
            }
        }
    }

    /// Why the link cannot be made as secure as that; nil when it is.
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
    /// What a refusal means, on a link that was that secure.
    init(_ code: ATTErrorCode, at present: SecurityLevel) {
        reason = "\(code)"
        switch code {
        case .insufficientEncryption: level = .encrypted
        // It does not say which authentication it misses; a link that is encrypted misses another.
        case .insufficientAuthentication: level = present == .open ? .encrypted : .authenticated
        case .encryptionKeySizeTooShort: needsLongKey = true
        case .readNotPermitted: isUnreadable = true
        default: break
        }
    }

    /// Whether a safer link may show it.
    fileprivate var needsSecurity: Bool { value == nil && level != .open }
}
