import HCI
import SystemPackage
import Testing

@testable import BLE

/// Tests of the errors after which connecting is retried: the link was neither established nor refused.
struct FailedEstablishmentTests {
    @Test(arguments: [
        BLEError.disconnected(.status(.connectionFailedToBeEstablished)),
        .connectFailed(.status(.connectionFailedToBeEstablished)),
        .hci(.connectionFailedToBeEstablished, command: .leReadRemoteFeatures),
        .encryption(.connectionFailedToBeEstablished),
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
