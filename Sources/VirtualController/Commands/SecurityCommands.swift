import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.22 and 7.8.23.
    static let securityCommands: [CommandHandler] = [
        .answer(LEEncrypt.self) { _, command, _ in
            Returned(AES128(key: command.key).encrypt(command.plaintext))
        },
        .answer(LERand.self) { controller, _, _ in Returned(controller.random.next()) },
    ]
}
