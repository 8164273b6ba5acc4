import BLECore

/// A CSRK: the key with which one side signs writes and the other side verifies them (Core Specification 5.4,
/// Vol 3, Part H, 2.4.5). Each side of a bond has its own.
///
/// ```swift
/// let command = key.sign(0x0012, value: [1], counter: 7)
/// key.verifies(command)  // true, on the other side
/// ```
package struct ATTSigningKey: Sendable {
    /// AES-CMAC of a message under a key (RFC 4493).
    package typealias CMAC = @Sendable (_ message: [UInt8], _ key: UInt128) -> UInt128

    /// The key as a 128-bit number.
    package let csrk: UInt128
    private let cmac: CMAC

    /// Creates the key from a bond's CSRK.
    ///
    /// - Parameter cmac: The function that computes signatures. The time that `AESCMAC` takes depends on the
    ///   key.
    package init(csrk: UInt128, cmac: @escaping CMAC = AESCMAC.code(of:key:)) {
        self.csrk = csrk
        self.cmac = cmac
    }

    /// Returns a Signed Write Command. A counter must not be used twice with a key, so store the next one
    /// with the bond.
    package func sign(_ handle: AttributeHandle, value: [UInt8], counter: UInt32) -> ATTCommand {
        let mac = code(handle, value, counter)
        return .signedWrite(handle, value: value, signature: ATTSignature(counter: counter, mac: mac))
    }

    /// Returns whether the command was signed with this key. The caller has to check that its counter is new.
    package func verifies(_ command: ATTCommand) -> Bool {
        guard case .signedWrite(let handle, let value, let signature) = command else { return false }
        return code(handle, value, signature.counter) == signature.mac
    }

    /// Returns the upper half of the CMAC over opcode, handle, value and counter, with the last octet first.
    private func code(_ handle: AttributeHandle, _ value: [UInt8], _ counter: UInt32) -> UInt64 {
        let head = [ATTOpcode.signedWriteCommand.rawValue] + [UInt8](littleEndian: handle.rawValue)
        let mac = cmac((head + value + [UInt8](littleEndian: counter)).reversed(), csrk)
        return UInt64(truncatingIfNeeded: mac >> 64)
    }
}
