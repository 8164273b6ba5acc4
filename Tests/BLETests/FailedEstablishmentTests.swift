import HCI
import SystemPackage
import Testing

@testable import BLE

/// The errors of a link that was not established and not refused, after which it is tried again.
struct FailedEstablishmentTests {
    @Test(arguments: [
        BLEError.disconnected(.status(.connectionFailedToBeEstablished)),
        .connectFailed(.status(.connectionFailedToBeEstablished)),
        .disconnected(.errno(Errno.noFunction.rawValue)),
        .connectFailed(.errno(Errno.noFunction.rawValue)),
        .connectFailed(.errno(Errno.connectionReset.rawValue)),
        .connectFailed(.errno(Errno.connectionAbort.rawValue)),
    ])
    func failedEstablishmentIsRetryable(_ error: BLEError) { #expect(error.failedEstablishment != nil) }

    @Test(arguments: [
        BLEError.disconnected(.status(.remoteUserTerminatedConnection)),
        .disconnected(.errno(Errno.connectionReset.rawValue)),
        .connectFailed(.errno(Errno.permissionDenied.rawValue)),
        .connectFailed(.status(.unknownConnectionIdentifier)),
        .connectFailed(.unknown), .cancelled, .encryption(.pinOrKeyMissing),
    ])
    func otherErrorIsNotFailedEstablishment(_ error: BLEError) { #expect(error.failedEstablishment == nil) }
}
