#if SecurityManager
import BLECore
import SMP
import TestSupport
import Testing

/// Pairings of every kind, whose frames the tests change.
private let kinds: [(name: String, pair: @Sendable () -> PairedMachines)] = [
    ("legacy Just Works", { PairedMachines(.with(.noInputNoOutput, secure: false), PairingPolicy()) }),
    ("legacy passkey", { PairedMachines(.with(.keyboardOnly, secure: false), .with(.displayOnly)) }),
    ("Just Works", { PairedMachines() }),
    ("numeric comparison", { PairedMachines(.with(.displayYesNo), .with(.keyboardDisplay)) }),
    ("passkey", { PairedMachines(.with(.displayOnly), .with(.keyboardOnly)) }),
    ("out of band", outOfBand),
]

extension PairingPolicy {
    fileprivate static func with(_ ioCapability: IOCapability, secure: Bool = true) -> PairingPolicy {
        var policy = PairingPolicy(ioCapability: ioCapability)
        if !secure { policy.secureConnections = .off }
        return policy
    }
}

private func outOfBand() -> PairedMachines {
    var policies = [PairingPolicy(), PairingPolicy()]
    if let toolbox = SecurityManager.defaultToolbox {
        for index in 0..<2 {
            policies[index].outOfBandOffer = OutOfBandOffer(
                toolbox: toolbox, using: SplitMix64(seed: UInt64(index)))
        }
        policies[0].outOfBandData = policies[1].outOfBandOffer?.data
        policies[1].outOfBandData = policies[0].outOfBandOffer?.data
    }
    return PairedMachines(policies[0], policies[1])
}

/// A packet of each code, with contents that neither end would send.
private let packets: [SMPCommand] = {
    let features = PairingFeatures(ioCapability: .noInputNoOutput, authentication: [])
    return [
        .pairingRequest(features), .pairingResponse(features), .pairingConfirm(1), .pairingRandom(2),
        .pairingFailed(.busy), .encryptionInformation(longTermKey: 3),
        .centralIdentification(ediv: 4, random: 5),
        .identityInformation(identityResolvingKey: 6),
        .identityAddressInformation(DeviceAddress(7, type: .public)), .signingInformation(signatureKey: 8),
        .securityRequest([]), .pairingPublicKey(.debug), .pairingDHKeyCheck(9),
        .pairingKeypressNotification(.started),
    ]
}()

@Test(arguments: kinds.indices)
func packetsOutOfOrderEndPairing(kind: Int) throws {
    var untouched = kinds[kind].pair()
    try untouched.pair()
    #expect(untouched.initiatorBond != nil && untouched.responderBond != nil)
    for (position, frame) in untouched.frames.enumerated() {
        for packet in packets where packet.code.rawValue != frame.octets.first {
            var pair = kinds[kind].pair()
            pair.alter = { _, index in index == position ? packet.encoded : nil }
            try pair.pair()
            let isInitiator = frame.from == .peripheral
            let (failure, bond) =
                isInitiator
                ? (pair.initiatorFailure, pair.initiatorBond) : (pair.responderFailure, pair.responderBond)
            let place = "\(kinds[kind].name), \(packet.code) in place of packet \(position)"
            #expect(bond == nil, "\(place)")
            switch (packet, position) {
            case (.pairingFailed, 0): #expect(pair.responderEvents.isEmpty, "\(place)")
            case (.pairingFailed, _): #expect(failure == .peer(.busy), "\(place)")
            case (.securityRequest, _) where isInitiator:
                // The Security Request is ignored, and the packet that it replaced is missing.
                #expect(pair.initiator.isPairing || failure == .local(.unspecifiedReason), "\(place)")
            case (_, 0):
                #expect(failure == nil && !pair.responder.isPairing, "\(place)")
                #expect(pair.frames.last?.octets.first == 5, "\(place)")
            default:
                guard case .local = failure else {
                    Issue.record("\(place): \(String(describing: failure))")
                    continue
                }
            }
        }
    }
}

@Test(arguments: kinds.indices)
func packetsOfWrongLengthEndPairing(kind: Int) throws {
    var untouched = kinds[kind].pair()
    try untouched.pair()
    for (position, frame) in untouched.frames.enumerated() {
        for octets in [Array(frame.octets.dropLast()), frame.octets + [0]] {
            var pair = kinds[kind].pair()
            pair.alter = { _, index in index == position ? octets : nil }
            try pair.pair()
            if position == 0 {
                #expect(pair.responderEvents == [.refused(.pairingRequest, .invalidParameters)])
            } else {
                let failure = frame.from == .peripheral ? pair.initiatorFailure : pair.responderFailure
                #expect(failure == .local(.invalidParameters))
            }
        }
    }
}

/// Whenever the peer stops answering, the pairing ends after thirty seconds, and the link cannot pair again.
@Test(arguments: kinds.indices)
func unresponsivePeerEndsPairingAfterThirtySeconds(kind: Int) throws {
    var untouched = kinds[kind].pair()
    try untouched.pair()
    for (position, frame) in untouched.frames.enumerated() where position > 0 {
        var pair = kinds[kind].pair()
        pair.alter = { _, index in index >= position ? [] : nil }
        try pair.pair()
        var machine = frame.from == .peripheral ? pair.initiator : pair.responder
        #expect(machine.isPairing)
        #expect(machine.deadline == pair.now + .seconds(30))
        machine.expire(at: pair.now + .milliseconds(29_999))
        #expect(machine.isPairing)
        machine.expire(at: pair.now + .seconds(30))
        #expect(machine.nextEvent() == .failed(.timeout))
        #expect(machine.hasTimedOut && !machine.isPairing)
        #expect(machine.deadline == nil)
        machine.receive(frame.octets, at: pair.now)
        machine.receive(untouched.frames[0].octets, at: pair.now)
        #expect(machine.frame() == nil)
        #expect(machine.nextEvent() == nil)
        #expect(throws: PairingImpossible.timedOut) { try machine.begin(.encryption, at: pair.now) }
    }
}

@Test func pairingTimeoutRestartsOnSending() throws {
    var machine = PairedMachines().initiator
    try machine.begin(.encryption, at: .zero)
    #expect(machine.deadline == .zero + .seconds(30))
    let response = PairingFeatures(
        ioCapability: .noInputNoOutput, authentication: [.bonding, .secureConnections])
    machine.receive(SMPCommand.pairingResponse(response).encoded, at: .zero + .seconds(20))
    #expect(machine.deadline == .zero + .seconds(30))
    machine.answer(.accept, at: .zero + .seconds(25))
    #expect(machine.deadline == .zero + .seconds(55))
}

@Test func pairingDoesNotStartDuringAnother() throws {
    var pair = PairedMachines()
    try pair.initiator.begin(.encryption, at: pair.now)
    #expect(throws: PairingImpossible.busy) { try pair.initiator.begin(.encryption, at: pair.now) }
    pair.responderUser.accepts = true
    let first = pair.initiator.frame()
    let request = try #require(first)
    pair.responder.receive(request, at: pair.now)
    #expect(throws: PairingImpossible.busy) { try pair.responder.begin(.encryption, at: pair.now) }
    pair.responder.receive(request, at: pair.now)
    #expect(pair.responder.frame() == [5, 8])
    #expect(!pair.responder.isPairing)
}

/// A machine that is not pairing answers each stray packet, but only one while no answer can be sent.
@Test func strayPacketsGetOneAnswer() {
    let pair = PairedMachines()
    for machine in [pair.initiator, pair.responder] {
        for packet in packets {
            var machine = machine
            for _ in 0..<100 { machine.receive(packet.encoded, at: .zero) }
            switch (packet, machine.role) {
            case (.pairingFailed, _): #expect(machine.frame() == nil)
            case (.securityRequest, .central):
                #expect(machine.frame() == nil)
                #expect(machine.nextEvent() == .securityRequested([]))
            case (.pairingRequest, .peripheral):
                // The second request ends the pairing of the first. The others arrive too soon after that.
                #expect(machine.frame() == [5, 8])
                #expect(machine.frame() == [5, 9])
            default: #expect(machine.frame()?.first == 5)
            }
            #expect(machine.frame() == nil)
        }
    }
}

@Test func reservedCodesAndEmptyFramesAreIgnored() throws {
    var pair = PairedMachines()
    try pair.initiator.begin(.encryption, at: pair.now)
    for frame in [[], [0], [0x0f, 1, 2], [0xff]] as [[UInt8]] {
        pair.initiator.receive(frame, at: pair.now)
    }
    pair.settle()
    #expect(pair.initiatorBond != nil)
}
#endif
