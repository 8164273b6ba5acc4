import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.24 to 7.8.26, 7.3.93 and 7.3.94.
    static let encryptionCommands: [CommandHandler] = [
        .perform(LEEnableEncryption.self) { (controller, command, now) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            let link = controller.links[index]
            try check(
                link.role == .central && link.encryption.procedure == nil && !link.isEnding,
                .commandDisallowed)
            controller.beginEncryption(command, on: index, at: now)
        },
        .answer(LELongTermKeyRequestReply.self) { (controller, command, now) throws(HCIStatus) in
            let index = try controller.indexOfKeyRequest(on: command.connection)
            controller.takeKey(command.key, on: index, at: now)
            return Returned(command.connection)
        },
        .answer(LELongTermKeyRequestNegativeReply.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.indexOfKeyRequest(on: command.connection)
            controller.refuseEncryption(on: index)
            return Returned(command.connection)
        },
        .answer(ReadAuthenticatedPayloadTimeout.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            return ReturnedForConnection(command.connection, controller.links[index].payload.timeout)
        },
        .answer(WriteAuthenticatedPayloadTimeout.self) { (controller, command, now) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            let timing = controller.links[index].timing
            let least = timing.interval.duration * (1 + Int(timing.latency))
            try check(command.timeout.rawValue > 0 && command.timeout.duration >= least)
            controller.links[index].payload.timeout = command.timeout
            controller.links[index].payload.restart(at: now)
            return Returned(command.connection)
        },
    ]

    /// Returns the index of a link for which a key request to the host is pending.
    private func indexOfKeyRequest(on connection: ConnectionHandle) throws(HCIStatus) -> Int {
        let index = try index(of: connection)
        try Self.check(
            links[index].encryption.procedure?.step == .key && !links[index].isEnding, .commandDisallowed)
        return index
    }
}

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.22 and 7.8.23.
    static let securityCommands: [CommandHandler] = [
        .answer(LEEncrypt.self) { _, command, _ in
            Returned(AES128(key: command.key).encrypt(command.plaintext))
        },
        .answer(LERand.self) { controller, _, _ in Returned(controller.random.next()) },
    ]
}
