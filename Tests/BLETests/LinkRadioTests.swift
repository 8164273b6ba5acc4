import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// Tests of the PHY, data length, signal strength and channels of a link, and of its peer's version and features.
struct LinkRadioTests {
    @Test(arguments: [false, true]) func bothSidesReportRadioProperties(_ extended: Bool) async throws {
        try await LinkedHosts.run(extended: extended) { hosts in
            for connection in [hosts.device.connection, hosts.connection] {
                #expect(try await connection.rssi() == -50)
                #expect(try await connection.transmitPower() == TransmitPower(current: 0, maximum: 0))
                #expect(try await connection.channelMap() == .all)
                #expect(
                    try await connection.remoteVersion()
                        == RemoteVersion(version: extended ? .v5_4 : .v4_2, company: 0xffff, subversion: 0))
                let features = try await connection.remoteFeatures()
                #expect(features.contains(.dataPacketLengthExtension))
                #expect(features.contains(.le2MPHY) == extended)
                // Every controller here sends its longest packets from the beginning.
                let lengths = try #require(try await connection.parameters.dataLengths)
                #expect(lengths.transmit.octets == 251 && lengths.receive.octets == 251)
            }
        }
    }

    @Test("an RSSI of 127 is reported as unknown")
    func unknownRSSI() async throws {
        try await LinkedHosts.run { hosts in
            let device = try await CentralManager(hosts.server).connect(to: await hosts.client.address)
            for (octet, known) in [(0x7f, nil), (0x81, -127), (0x14, 20)] as [(UInt8, Int?)] {
                hosts.port.play { command in
                    guard command.opcode == .readRSSI else { return nil }
                    let returned = [0] + Array(command.parameters.prefix(2)) + [octet]
                    return [
                        CommandComplete(credits: 1, opcode: .readRSSI, returnParameters: returned).packet
                    ]
                }
                #expect(try await hosts.connection.rssi() == known)
                #expect(try await device.readRSSI() == known)
            }
            hosts.port.play(nil)
            #expect(try await device.readRSSI() == -50)
            await device.disconnect()
        }
    }

    @Test func badChannelsAreExcluded() async throws {
        try await LinkedHosts.run { hosts in
            let good = ChannelMap(rawValue: 0x1f_ff00_0fff)
            try await hosts.client.setHostChannels(good)
            #expect(try await hosts.device.connection.channelMap() == good)
            #expect(try await hosts.connection.channelMap() == good)
            let refused = await failure { () throws(BLEError) in
                try await hosts.client.setHostChannels(ChannelMap(rawValue: 1 << 36 | 1 << 37))
            }
            #expect(refused == .outOfRange(.dataChannels, allowed: 2...37, value: 1))
        }
    }

    @Test func constantPeerInformationIsReadOnce() async throws {
        try await LinkedHosts.run { hosts in
            let connection = hosts.connection
            hosts.port.forget()
            async let one = connection.remoteVersion()
            async let two = connection.remoteVersion()
            async let features = connection.remoteFeatures()
            let (first, second) = try await (one, two)
            _ = try await features
            #expect(first == second)
            #expect(try await connection.remoteVersion() == first)
            #expect(
                Set(hosts.port.opcodes) == [.readRemoteVersionInformation, .leReadRemoteFeatures]
                    && hosts.port.opcodes.count == 2)
        }
    }

    @Test func physChangeOnBothSides() async throws {
        try await LinkedHosts.run(extended: true) { hosts in
            let connection = hosts.device.connection
            let now = try await connection.setPHYs(transmit: [.le2M], receive: [.le2M])
            #expect(now.phys?.transmit == .le2M && now.phys?.receive == .le2M)
            #expect(try await hosts.connection.phys() == now.phys)
            // The peer accepts a requested PHY, LE Coded as well: by default a host allows all PHYs of its controller.
            let coded = try await connection.setPHYs(transmit: [.leCoded], receive: [.leCoded], coding: .s8)
            #expect(coded.phys?.transmit == .leCoded && coded.phys?.receive == .leCoded)
            #expect(try await hosts.connection.phys() == coded.phys)
            // The client has requested LE Coded, so it accepts no other PHY.
            let kept = try await hosts.connection.setPHYs(transmit: [.le1M], receive: [.le1M])
            #expect(kept.phys == coded.phys)
            let none = await failure { () throws(BLEError) in
                try await connection.setPHYs(transmit: [], receive: nil)
            }
            #expect(none == .invalidRequest(.noPHY))
            let unknown = await failure { () throws(BLEError) in
                try await connection.setPHYs(transmit: [.le1M, PHY(rawValue: 9)], receive: nil)
            }
            #expect(unknown == .invalidRequest(.phy(PHY(rawValue: 9))))
        }
    }

    @Test func le1MControllerRefusesOtherPHY() async throws {
        try await LinkedHosts.run { hosts in
            let refused = await failure { () throws(BLEError) in
                try await hosts.connection.setPHYs(transmit: [.le2M], receive: [.le2M])
            }
            #expect(refused == .adapter(.unsupported(.phy(.le2M))))
        }
    }

    @Test func le1MPeerRefusalIsReported() async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client", extended: true)
            let server = try await bed.host("server")
            try await server.serve()
            var options = ConnectionOptions()
            // The PHY is a preference: the link stays on LE 1M.
            options.phys = [.le2M]
            let device = try await client.connect(to: server, options: options)
            #expect(try await device.connection.parameters.phys?.transmit == .le1M)
            let refused = await failure { () throws(BLEError) in
                try await device.connection.setPHYs(transmit: [.le2M], receive: [.le2M])
            }
            #expect(refused == .hci(.unsupportedRemoteFeature, command: .leSetPHY))
            await device.disconnect()
        }
    }

    @Test(arguments: [PHY.le2M, .le1M]) func linkUsesRequestedPHY(
        _ wanted: PHY
    ) async throws {
        try await VirtualTestbed.run { bed in
            let client = try await bed.host("client", extended: true)
            let server = try await bed.host("server", extended: true)
            try await server.serve()
            var options = ConnectionOptions()
            options.phys = [wanted]
            let device = try await client.connect(to: server, options: options)
            let phys = try #require(try await device.connection.parameters.phys)
            #expect(phys.transmit == wanted && phys.receive == wanted)
            await device.disconnect()
        }
    }

    @Test func dataLengthIsValidatedAndChangeIsReported() async throws {
        try await LinkedHosts.run { hosts in
            let connection = hosts.device.connection
            var changes = connection.changes().makeAsyncIterator()
            await hosts.bed.wait(.milliseconds(1))
            try await connection.setDataLength(100)
            let lengths = try #require(try await changes.next()?.dataLengths)
            #expect(lengths.transmit == DataLength(octets: 100, time: 912))
            #expect(lengths.receive.octets == 251)
            await hosts.bed.wait(.seconds(1))
            #expect(try await hosts.connection.parameters.dataLengths?.receive == lengths.transmit)
            for (octets, time) in [
                (26, nil), (252, nil), (27, Duration.microseconds(327)), (27, .milliseconds(18)),
            ] {
                let refused = await failure { () throws(BLEError) in
                    try await connection.setDataLength(octets, time: time)
                }
                let expected: BLEError =
                    if let time {
                        .timeOutOfRange(
                            .packetTime, allowed: .microseconds(328) ... .microseconds(17_040), value: time)
                    } else {
                        .outOfRange(.dataLength, allowed: 27...251, value: octets)
                    }
                #expect(refused == expected)
            }
        }
    }

    @Test func unfinishedProcedureTimesOutAfterFortySeconds() async throws {
        try await LinkedHosts.run { hosts in
            hosts.port.play { command in
                command.opcode == .leReadRemoteFeatures
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            let connection = hosts.connection
            let silent = await failure { () throws(BLEError) in _ = try await connection.remoteFeatures() }
            #expect(silent == .timedOut(.remoteFeatures, after: .seconds(40)))
            // The procedure can be tried again afterwards.
            hosts.port.play(nil)
            let features = try await connection.remoteFeatures()
            #expect(features.contains(.dataPacketLengthExtension))
            hosts.port.play { command in
                command.opcode == .readRSSI
                    ? [CommandStatus(status: .unknownCommand, opcode: command.opcode).packet] : nil
            }
            let refused = await failure { () throws(BLEError) in _ = try await connection.rssi() }
            #expect(refused == .hci(.unknownCommand, command: .readRSSI))
        }
    }

    @Test func disconnectFailsPendingCallsAndStreams() async throws {
        try await LinkedHosts.run { hosts in
            hosts.port.play { command in
                command.opcode == .leReadRemoteFeatures
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            let connection = hosts.connection
            let changes = connection.changes()
            let asked = hosts.bed.task {
                await failure { () throws(BLEError) in _ = try await connection.remoteFeatures() }
            }
            let queued = hosts.bed.task {
                await failure { () throws(BLEError) in _ = try await connection.remoteVersion() }
            }
            let watching = hosts.bed.task {
                await failure { () throws(BLEError) in for try await _ in changes {} }
            }
            await hosts.bed.wait(.seconds(1))
            await hosts.device.disconnect(reason: .lowResources)
            let end = BLEError.disconnected(.status(.remoteDeviceTerminatedLowResources))
            let ends = try await [asked.value, queued.value, watching.value]
            #expect(ends == [end, end, end])
            let late = await failure { () throws(BLEError) in _ = try await connection.rssi() }
            #expect(late == end)
        }
    }

    @Test func cancelledProcedureLetsNextOneRun() async throws {
        try await LinkedHosts.run { hosts in
            hosts.port.play { command in
                command.opcode == .leReadRemoteFeatures
                    ? [CommandStatus(status: .success, opcode: command.opcode).packet] : nil
            }
            let connection = hosts.connection
            let asked = hosts.bed.task {
                await failure { () throws(BLEError) in _ = try await connection.remoteFeatures() }
            }
            let queued = hosts.bed.task { try await connection.remoteVersion() }
            await hosts.bed.wait(.seconds(1))
            asked.cancel()
            let cancelled = try await asked.value
            #expect(cancelled == .cancelled)
            let version = try await queued.value
            #expect(version.version == .v4_2)
        }
    }
}
