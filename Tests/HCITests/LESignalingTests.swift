import BLECore
import HCI
import TestSupport
import Testing

@Suite struct LESignalingPDUTests {
    static func pdu(_ hex: String, _ message: some LESignalingMessage) -> PacketCase<LESignalingPDU> {
        PacketCase(hex, LESignalingPDU(message, identifier: 7))
    }

    /// All messages of LE.
    static let table: [PacketCase<LESignalingPDU>] = [
        pdu("01 07 0200 0000", CommandReject(reason: .notUnderstood)),
        pdu("01 07 0400 0100 1700", CommandReject.mtuExceeded(limit: 23)),
        pdu(
            "01 07 0600 0200 4100 4200",
            CommandReject.invalidChannel(
                local: L2CAPChannelID(rawValue: 0x41), remote: L2CAPChannelID(rawValue: 0x42))),
        pdu(
            "06 07 0400 4100 4200",
            DisconnectionRequest(
                destination: L2CAPChannelID(rawValue: 0x41), source: L2CAPChannelID(rawValue: 0x42))),
        pdu(
            "07 07 0400 4100 4200",
            DisconnectionResponse(
                destination: L2CAPChannelID(rawValue: 0x41), source: L2CAPChannelID(rawValue: 0x42))),
        pdu(
            "12 07 0800 0600 0c00 0100 c800",
            ConnectionParameterUpdateRequest(
                intervalMin: ConnectionInterval(rawValue: 6), intervalMax: ConnectionInterval(rawValue: 12),
                latency: 1, supervisionTimeout: Centiseconds(rawValue: 200))),
        pdu("13 07 0200 0100", ConnectionParameterUpdateResponse(result: .rejected)),
        pdu(
            "14 07 0a00 8000 4000 1700 f900 0100",
            LECreditBasedConnectionRequest(
                spsm: 0x80, source: L2CAPChannelID(rawValue: 0x40), mtu: 23, mps: 249, credits: 1)),
        pdu(
            "15 07 0a00 0000 0000 0000 0000 0200",
            LECreditBasedConnectionResponse(result: .spsmNotSupported)),
        pdu(
            "16 07 0400 4000 0500",
            FlowControlCredit(channel: L2CAPChannelID(rawValue: 0x40), credits: 5)),
        pdu(
            "17 07 0c00 2700 4000 4100 0100 4000 4100",
            CreditBasedConnectionRequest(
                spsm: 0x27, mtu: 64, mps: 65, credits: 1,
                sources: [L2CAPChannelID(rawValue: 0x40), L2CAPChannelID(rawValue: 0x41)])),
        pdu(
            "18 07 0c00 4000 4100 0100 0000 4200 4300",
            CreditBasedConnectionResponse(
                mtu: 64, mps: 65, credits: 1, result: .success,
                destinations: [L2CAPChannelID(rawValue: 0x42), L2CAPChannelID(rawValue: 0x43)])),
        pdu(
            "19 07 0600 4000 4100 4200",
            CreditBasedReconfigureRequest(mtu: 64, mps: 65, destinations: [L2CAPChannelID(rawValue: 0x42)])),
        pdu("1a 07 0200 0300", CreditBasedReconfigureResponse(result: .invalidDestination)),
    ]

    @Test(arguments: table) func encodesAndDecodes(_ message: PacketCase<LESignalingPDU>) throws {
        message.check()
        let decoded = try #require(try message.value.message())
        #expect(decoded.encoded == message.value.data)
        #expect(type(of: decoded).packetName == message.value.code.description)
    }

    @Test func everyMessageHasASample() {
        #expect(Set(Self.table.map(\.value.code)) == Set(LESignalingPDU.messages.keys))
    }

    /// Data that are too short or too long for the code are an error of the message.
    @Test(arguments: table) func wrongLengthsFailToDecode(_ message: PacketCase<LESignalingPDU>) {
        let isOpen = [.commandReject, .creditBasedConnectionRequest, .creditBasedConnectionResponse]
            .contains(message.value.code)
        for data in [message.value.data + [0], Array(message.value.data.dropLast())] where !isOpen {
            let wrong = LESignalingPDU(code: message.value.code, identifier: 1, data: data)
            #expect(throws: DecodeError.self) { try wrong.message() }
        }
    }

    @Test func unknownCodesRoundTrip() throws {
        let pdu = LESignalingPDU(code: LESignalingCode(rawValue: 0x42), identifier: 1, data: [1, 2])
        #expect(try LESignalingPDU(pdu.encoded) == pdu)
        #expect(try pdu.message() == nil)
        #expect(pdu.code.description == "0x42")
    }

    @Test func requestAcceptsOneToFiveChannels() {
        for count in 0...7 {
            let data = [UInt8](repeating: 0, count: 8 + 2 * count)
            let pdu = LESignalingPDU(code: .creditBasedConnectionRequest, identifier: 1, data: data)
            #expect((try? pdu.message() != nil) == ((1...5).contains(count) ? true : nil))
        }
    }

    static let frames: [PacketCase<L2CAPFrame>] = [
        PacketCase("0300 0400 021700", L2CAPFrame(.att, [2, 23, 0])),
        PacketCase("0000 ff00", L2CAPFrame(L2CAPChannelID(rawValue: 0xff), [])),
    ]
    @Test(arguments: frames) func framesEncodeAndDecode(_ frame: PacketCase<L2CAPFrame>) { frame.check() }
}

@Suite struct LESignalingTests {
    let parameters = LEConnectionParameters(
        intervalMin: ConnectionInterval(rawValue: 6), intervalMax: ConnectionInterval(rawValue: 12),
        latency: 1, supervisionTimeout: Centiseconds(rawValue: 200))

    /// Returns the answers of a side to a frame.
    static func answers(_ role: LinkRole = .central, to hex: String) -> [String] {
        var side = LESignaling(role: role)
        side.receive([UInt8](spelled: hex).span, at: .zero)
        return side.frames().map(\.hex)
    }

    @Test(arguments: [true, false]) func parameterUpdateIsAnswered(_ isAccepted: Bool) throws {
        var central = LESignaling(role: .central)
        var peripheral = LESignaling(role: .peripheral)
        try peripheral.requestParameterUpdate(parameters, at: .zero)
        #expect(throws: LESignalingError.busy) {
            try peripheral.requestParameterUpdate(parameters, at: .zero)
        }
        #expect(peripheral.deadline == .ms(30_000))
        let request = peripheral.frame() ?? []
        #expect(request.hex == "12010800" + "06000c000100c800")

        central.receive(request.span, at: .zero)
        #expect(central.events() == [.parameterUpdateRequested(identifier: 1, parameters)])
        #expect(central.frames().isEmpty, "the owner has not answered")
        central.answer(2, isAccepted: true)
        #expect(central.frames().isEmpty)
        central.answer(1, isAccepted: isAccepted)
        central.answer(1, isAccepted: !isAccepted)
        let response = central.frames()
        #expect(response.map(\.hex) == ["13010200" + (isAccepted ? "0000" : "0100")])

        for frame in response { peripheral.receive(frame.span, at: .zero) }
        #expect(peripheral.events() == [.parameterUpdateAnswered(isAccepted: isAccepted)])
        #expect(peripheral.deadline == nil)
        try peripheral.requestParameterUpdate(parameters, at: .zero)
        #expect(peripheral.frame()?[1] == 2)
    }

    @Test func identifiersSkipZero() throws {
        var peripheral = LESignaling(role: .peripheral)
        var seen: [UInt8] = []
        for _ in 0..<256 {
            try peripheral.requestParameterUpdate(parameters, at: .zero)
            seen += [peripheral.frame()?[1] ?? 0]
            peripheral.expire(at: .ms(30_000))
        }
        #expect(seen == Array(1...255) + [1])
    }

    @Test func requestTimesOut() throws {
        var peripheral = LESignaling(role: .peripheral, timeLimit: .seconds(2))
        try peripheral.requestParameterUpdate(parameters, at: .ms(5))
        peripheral.expire(at: .ms(2004))
        #expect(peripheral.events().isEmpty)
        peripheral.expire(at: .ms(2005))
        #expect(peripheral.events() == [.requestTimedOut])
        peripheral.receive([0x13, 1, 2, 0, 0, 0].span, at: .ms(2006))
        #expect(peripheral.events() == [.unexpected(.connectionParameterUpdateResponse)])
        #expect(peripheral.frames().count == 1, "nothing but the request itself")
    }

    @Test func requestIsRejected() throws {
        var peripheral = LESignaling(role: .peripheral)
        try peripheral.requestParameterUpdate(parameters, at: .zero)
        peripheral.receive([1, 9, 2, 0, 0, 0].span, at: .zero)
        #expect(peripheral.events() == [.unexpected(.commandReject)])
        peripheral.receive([1, 1, 2, 0, 0, 0].span, at: .zero)
        #expect(peripheral.events() == [.requestRejected(CommandReject(reason: .notUnderstood))])
        #expect(peripheral.deadline == nil)
    }

    @Test func onlyPeripheralsRequestUpdatesWithinRange() {
        var central = LESignaling(role: .central)
        #expect(throws: LESignalingError.notPeripheral) {
            try central.requestParameterUpdate(parameters, at: .zero)
        }
        var peripheral = LESignaling(role: .peripheral)
        var wrong = parameters
        wrong.latency = 500
        #expect(throws: LESignalingError.outOfRange) {
            try peripheral.requestParameterUpdate(wrong, at: .zero)
        }
    }

    /// Minimum interval, maximum interval, latency and timeout, and whether they are within range.
    @Test(
        arguments: [
            (6, 6, 0, 10, true), (5, 6, 0, 10, false), (6, 5, 0, 10, false), (6, 3201, 0, 3200, false),
            (3200, 3200, 0, 3200, true), (6, 6, 499, 3200, true), (6, 6, 500, 3200, false),
            (6, 6, 0, 9, false), (6, 6, 0, 3201, false), (40, 40, 0, 10, false), (39, 39, 0, 10, true),
            (6, 40, 1, 20, false), (6, 40, 1, 21, true),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)])
    func parameterRangesAreChecked(
        _ min: UInt16, _ max: UInt16, _ latency: UInt16, _ timeout: UInt16, _ isInRange: Bool
    ) {
        let request = ConnectionParameterUpdateRequest(
            intervalMin: ConnectionInterval(rawValue: min), intervalMax: ConnectionInterval(rawValue: max),
            latency: latency, supervisionTimeout: Centiseconds(rawValue: timeout))
        #expect(request.parameters.isInRange == isInRange)
        var central = LESignaling(role: .central)
        central.receive(LESignalingPDU(request, identifier: 3).encoded.span, at: .zero)
        #expect(central.frames().map(\.hex) == (isInRange ? [] : ["130302000100"]))
    }

    @Test func peripheralRejectsParameterRequests() {
        #expect(Self.answers(.peripheral, to: "12 07 0800 0600 0600 0000 0a00") == ["010702000000"])
    }

    /// Frames and the required answers.
    @Test(arguments: [
        // Unknown codes, codes of BR/EDR, and data that are too short for the code: not understood.
        ("42 07 0000", "010702000000"), ("02 07 0400 0100 4000", "010702000000"),
        ("12 07 0100 00", "010702000000"), ("14 07 0000", "010702000000"),
        // A length that does not fit the frame.
        ("12 07 0900 0600 0600 0000 0a00", "010702000000"), ("42 07", "010702000000"),
        ("42 07 0000 00", "010702000000"),
        // Connection-oriented channels.
        ("14 07 0a00 8000 4000 1700 f900 0100", "15070a0000000000000000000200"),
        ("17 07 0c00 2700 4000 4100 0100 4000 4100", "18070c00" + "0000000000000200" + "00000000"),
        ("19 07 0600 4000 4100 4200", "1a0702000300"), ("06 07 0400 4100 4200", "01070600" + "020041004200"),
        // A frame that exceeds the signaling MTU.
        ("42 07 1400 " + String(repeating: "00", count: 20), "01070400" + "01001700"),
    ])
    func invalidRequestsAreRefused(_ frame: String, _ answer: String) {
        #expect(Self.answers(to: frame) == [answer])
    }

    /// Responses, credits and frames without a valid identifier are not answered, even if they are malformed.
    @Test(arguments: [
        "01 07 0200 0000", "01 07", "07 07 0400 4100 4200", "13 07 0200 0000", "13 07 0300 0000",
        "15 07 0a00 4000 1700 f900 0100 0000", "16 07 0400 4000 0500", "18 07 0a00 4000 4100 0100 0000 4200",
        "1a 07 0200 0000", "42 00 0000", "14 00 0a00 8000 4000 1700 f900 0100", "", "42",
        "13 07 1400 " + String(repeating: "00", count: 20),
    ])
    func responsesAndInvalidIdentifiersAreNotAnswered(_ frame: String) {
        #expect(Self.answers(to: frame).isEmpty)
        var side = LESignaling(role: .central)
        side.receive([UInt8](spelled: frame).span, at: .zero)
        #expect(side.events().count == 1, "but it is reported")
    }

    @Test func requestFloodIsBounded() {
        var side = LESignaling(role: .central)
        for identifier in 1...20 {
            side.receive([0x42, UInt8(identifier), 0, 0].span, at: .zero)
        }
        #expect(side.frames().count == LESignaling.responseLimit)
        #expect(side.events().count { $0 == .flooded(limit: LESignaling.responseLimit) } == 4)
    }

    @Test func framesFitSignalingMTU() {
        var random = SplitMix64(seed: 7)
        var side = LESignaling(role: .central)
        for _ in 0..<3000 {
            var frame = random.bytes(upTo: 30)
            if frame.count >= 4, Bool.random(using: &random) {
                frame[0] = .random(in: 0...0x1b, using: &random)
                frame[2] = UInt8(frame.count - 4)
                frame[3] = 0
            }
            side.receive(frame.span, at: .zero)
            for answer in side.frames() {
                #expect(answer.count <= LESignaling.mtu)
                #expect(throws: Never.self) { _ = try LESignalingPDU(answer).message() }
            }
            #expect(side.events().count <= 2)
        }
    }
}
