/// What can be done with a characteristic, in the words of Core Bluetooth (Core Specification 5.4, Vol 3,
/// Part G, 3.3.1.1 and 3.3.3.1).
enum CharacteristicProperty: String, Hashable, Sendable, CaseIterable {
    case broadcast
    case read
    case writeWithoutResponse
    case write
    case notify
    case indicate
    case signedWrite
    /// There is an Extended Properties descriptor.
    case extended
    /// Notifies those whose link is encrypted.
    case notifyEncryptionRequired
    /// Indicates to those whose link is encrypted.
    case indicateEncryptionRequired

    var isSubscribable: Bool {
        switch self {
        case .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired: true
        default: false
        }
    }

    var isWritable: Bool { [.write, .writeWithoutResponse, .signedWrite].contains(self) }
}
