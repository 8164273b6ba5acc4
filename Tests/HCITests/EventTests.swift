import BLECore
import HCI
import Testing

@Suite struct EventTests {
    static let general: [MessageCase] = [
        .init(
            "05 04 00 4000 08",
            .disconnectionComplete(DisconnectionComplete(connection: link, reason: .connectionTimeout))),
        .init(
            "08 04 06 4000 00",
            .encryptionChange(
                EncryptionChange(status: .pinOrKeyMissing, connection: link, mode: .off))),
        .init(
            "59 05 00 4000 01 10",
            .encryptionChangeV2(
                EncryptionChangeV2(connection: link, mode: .on, keySize: 16))),
        .init("30 03 00 4000", .encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete(connection: link))),
        .init(
            "0c 08 00 4000 0c 0f00 3412",
            .readRemoteVersionInformationComplete(
                ReadRemoteVersionInformationComplete(
                    connection: link, version: .v5_3, company: 15, subversion: 0x1234))),
        .init(
            "0f 04 0c 01 0d20",
            .commandStatus(
                CommandStatus(status: .commandDisallowed, opcode: .leCreateConnection))),
        .init("10 01 42", .hardwareError(HardwareError(hardwareCode: 0x42))),
        .init(
            "13 05 01 4000 0200",
            .numberOfCompletedPackets(
                NumberOfCompletedPackets(completed: [CompletedPackets(connection: link, count: 2)]))),
        .init(
            "13 09 02 4000 0200 4100 0001",
            .numberOfCompletedPackets(
                NumberOfCompletedPackets(completed: [
                    CompletedPackets(connection: link, count: 2),
                    CompletedPackets(connection: ConnectionHandle(0x41), count: 256),
                ]))),
        .init("13 01 00", .numberOfCompletedPackets(NumberOfCompletedPackets(completed: []))),
        .init("1a 01 01", .dataBufferOverflow(DataBufferOverflow(linkType: .acl))),
        .init(
            "57 02 4000",
            .authenticatedPayloadTimeoutExpired(
                AuthenticatedPayloadTimeoutExpired(connection: link))),
    ]

    /// Events whose last field contains all remaining octets.
    static let openEnded: [MessageCase] = [
        .openEnded("0e 04 01 030c 00", .commandComplete(CommandComplete(.reset, status: .success))),
        .openEnded(
            "0e 03 02 0000",
            .commandComplete(
                CommandComplete(credits: 2, opcode: .none, returnParameters: []))),
        .openEnded("ff 03 010203", .unknown(.vendor, parameters: [1, 2, 3])),
        .openEnded(
            "3e 02 7f aa",
            .leMeta(
                .unknown(LESubevent(rawValue: 0x7f), parameters: [0xaa]))),
    ]

    static let random = DeviceAddress(0x4011_2233_4455, type: .random)

    static let lowEnergy: [MessageCase] = [
        .init(
            "3e 13 01 00 4000 01 \(peerBytes) 1800 0000 2a00 05",
            .connectionComplete(
                LEConnectionComplete(
                    connection: link, role: .peripheral, peer: peer,
                    interval: ConnectionInterval(rawValue: 24),
                    latency: 0, supervisionTimeout: Centiseconds(rawValue: 42), clockAccuracy: 5))),
        .init(
            "3e 1f 0a 00 4000 00 \(peerBytes) 000000000000 554433221140 1800 0000 2a00 00",
            .enhancedConnectionComplete(
                LEEnhancedConnectionComplete(
                    connection: link, role: .central, peer: peer, peerResolvable: random,
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 42)))),
        .init(
            "3e 0a 03 00 4000 0600 0100 c800",
            .connectionUpdateComplete(
                LEConnectionUpdateComplete(
                    connection: link, interval: ConnectionInterval(rawValue: 6), latency: 1,
                    supervisionTimeout: Centiseconds(.seconds(2))))),
        .init(
            "3e 0c 04 00 4000 0100000000000000",
            .readRemoteFeaturesComplete(
                LEReadRemoteFeaturesComplete(connection: link, features: .encryption))),
        .init(
            "3e 0d 05 4000 8877665544332211 3412",
            .longTermKeyRequest(
                LELongTermKeyRequest(connection: link, random: 0x1122_3344_5566_7788, diversifier: 0x1234))),
        .init(
            "3e 0b 06 4000 0600 0c00 0000 c800",
            .remoteConnectionParameterRequest(
                LERemoteConnectionParameterRequest(
                    connection: link, intervalMin: ConnectionInterval(rawValue: 6),
                    intervalMax: ConnectionInterval(rawValue: 12), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 200)))),
        .init(
            "3e 0b 07 4000 fb00 4808 1b00 4801",
            .dataLengthChange(
                LEDataLengthChange(
                    connection: link, transmit: DataLength(octets: 251, time: 2120),
                    receive: DataLength(octets: 27, time: 328)))),
        .init(
            "3e 06 0c 00 4000 02 02",
            .phyUpdateComplete(
                LEPHYUpdateComplete(connection: link, transmit: .le2M, receive: .le2M))),
        .init("3e 01 11", .scanTimeout(LEScanTimeout())),
        .init(
            "3e 06 12 3c 03 0000 05",
            .advertisingSetTerminated(
                LEAdvertisingSetTerminated(
                    status: .advertisingTimeout, set: AdvertisingHandle(rawValue: 3), completedEvents: 5))),
        .init(
            "3e 09 13 03 \(peerBytes)",
            .scanRequestReceived(
                LEScanRequestReceived(set: AdvertisingHandle(rawValue: 3), scanner: peer))),
        .init(
            "3e 04 14 4000 01",
            .channelSelectionAlgorithm(
                LEChannelSelectionAlgorithm(connection: link, algorithm: 1))),
        .init(
            "3e 42 08 00 \(P256PublicKey.counting.octets.hex)",
            .readLocalP256PublicKeyComplete(LEReadLocalP256PublicKeyComplete(publicKey: .counting))),
        .init(
            "3e 22 09 00 \(DHKey.counting.octets.hex)",
            .generateDHKeyComplete(LEGenerateDHKeyComplete(key: .counting))),
    ]

    static let table = general + openEnded + lowEnergy

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func errorsNameEventAndField() {
        #expect(problem("3e 05 14 4000 0102") == "LE Meta: end at octet 4: 1 octet too many")
        #expect(
            problem("3e 03 14 4000")
                == "LE Channel Selection Algorithm: Channel_Selection_Algorithm at octet 3 needs 1 octet, 0 left"
        )
        #expect(
            problem("13 03 01 4000")
                == "Number Of Completed Packets: Num_Completed_Packets at octet 3 needs 2 octets, 0 left")
        #expect(problem("10 00") == "Hardware Error: Hardware_Code at octet 0 needs 1 octet, 0 left")
        #expect(problem("10 02 00") == "HCI event: Event_Parameters at octet 2 needs 2 octets, 1 left")
    }

    private func problem(_ hex: String) -> String? {
        do {
            _ = try HCIEvent([UInt8](spelled: hex))
            return nil
        } catch { return "\(error)" }
    }
}
