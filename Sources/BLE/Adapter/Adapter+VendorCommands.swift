import BLECore
import HCI

extension Adapter {
    /// Sends a vendor-specific command: group (OGF) 0x3F of Core Specification 5.4, Vol 4, Part E, 5.4.1.
    ///
    /// ```swift
    /// let answer = try await adapter.sendVendorCommand(0x001, [0x0a])
    /// ```
    ///
    /// The adapter does not know what such a command changes: after a command that resets the controller, or
    /// that changes its address, close the adapter and open it again. A command that is not answered in time
    /// counts as a fault of the controller, as any other command does (`health()`). Vendor-specific events
    /// appear only in recordings (`AdapterOptions.capture`).
    ///
    /// - Parameters:
    ///   - field: the command (OCF), 0 to 0x3FF.
    ///   - parameters: at most 255 octets.
    ///   - timeLimit: how long the answer may take; nil for the limit of other commands, which is 2 s, or
    ///     10 s on virtual adapters.
    /// - Returns: the return parameters that follow the status of success; empty when the controller has only
    ///   accepted the command, with Command Status.
    /// - Throws: `BLEError.hci` when the controller refuses the command, `.controllerSilent` when it does not
    ///   answer in time, `.outOfRange` and `.limit` when `field` or `parameters` exceeds its limit,
    ///   `.permission` on a kernel adapter without CAP_NET_RAW.
    public func sendVendorCommand(
        _ field: Int, _ parameters: [UInt8] = [], timeLimit: Duration? = nil
    ) async throws(BLEError) -> [UInt8] {
        guard (0...0x3ff).contains(field) else {
            throw .outOfRange(.commandField, allowed: 0...0x3ff, value: field)
        }
        guard parameters.count <= 255 else {
            throw .limit(.commandParameters, maximum: 255, value: parameters.count)
        }
        let opcode = HCIOpcode(ogf: 0x3f, ocf: UInt16(field))
        let octets = try await exchange(
            HCICommandPacket(opcode: opcode, parameters: parameters), timeLimit: timeLimit)
        guard let status = octets.first.map({ HCIStatus(rawValue: $0) }) else { return [] }
        guard status == .success else { throw .hci(status, command: opcode) }
        return Array(octets.dropFirst())
    }
}
