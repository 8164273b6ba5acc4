import BLECore
import SMP

/// Frames between two hosts that pair are lost, changed, repeated or invented. Every pairing ends. No key is
/// sent before the link is encrypted. A successful pairing meets the policy of each end, is not weaker than
/// the existing bond, and has the same key at both ends. The input is a policy for each end, then steps. A
/// step determines what happens to the next frame, or another event.
public func fuzzPairing(_ bytes: Span<UInt8>) {
    var input = ByteReader(bytes, of: "fuzz input")
    guard let first = try? input.u16("policy"), let second = try? input.u16("policy") else { return }
    var link = FuzzedLink(policy(first), policy(second))
    while let step = try? input.u8("step") { link.perform(step, &input) }
    // The remaining frames arrive, then the time limits expire.
    for _ in 0..<200 { link.perform(0, &input) }
    for index in 0..<2 {
        link.ends[index].machine.expire(at: link.now + .seconds(30))
        link.drain(index)
        precondition(!link.ends[index].machine.isPairing)
        precondition(link.ends[index].machine.deadline == nil)
        precondition(!link.ends[index].isOpen)
    }
}

private func policy(_ bits: UInt16) -> PairingPolicy {
    var policy = PairingPolicy(ioCapability: IOCapability(rawValue: UInt8(bits & 7) % 5))
    policy.isBonding = bits & 8 == 0
    policy.requiresMITM = bits & 16 != 0
    policy.secureConnections = bits & 32 != 0 ? .off : bits & 64 != 0 ? .only : .preferred
    policy.minimumKeySize = bits & 128 != 0 ? 7 : 16
    policy.maximumKeySize = bits & 256 != 0 ? 7 : 16
    policy.reportsKeypresses = bits & 512 != 0
    policy.asksForOutOfBandData = bits & 1024 != 0
    if bits & 2048 != 0 { policy.outOfBandData = .temporaryKey(5) }
    if bits & 4096 != 0 {
        policy.outOfBandOffer = OutOfBandOffer(toolbox: PlainToolbox(), using: SplitMix64(seed: 3))
    }
    policy.fixedPasskey = Passkey(7)
    if bits & 8192 != 0 {
        policy.existing = PairingStrength(
            isAuthenticated: bits & 16384 != 0, isSecureConnections: bits & 32768 != 0,
            keySize: policy.minimumKeySize)
    }
    return policy
}

private struct FuzzedLink {
    struct End {
        var machine: SecurityManager
        var frames: [[UInt8]] = []
        /// Whether a pairing has begun and has not ended.
        var isOpen = false
        var isEncrypted = false
        var key: LongTermKey?
        /// The strength of the bond with the other end. A weaker pairing must not replace it.
        var existing: PairingStrength?
    }

    var ends: [End]
    var now = Instant.zero

    init(_ initiator: PairingPolicy, _ responder: PairingPolicy) {
        let addresses = [DeviceAddress(1, type: .public), DeviceAddress(0xc000_0000_0002, type: .random)]
        ends = [(LinkRole.central, initiator), (.peripheral, responder)].enumerated().map { index, end in
            End(
                machine: SecurityManager(
                    role: end.0, own: addresses[index], peer: addresses[1 - index], policy: end.1,
                    identity: LocalIdentity(address: addresses[index], identityKey: 9),
                    toolbox: PlainToolbox(),
                    random: SplitMix64(seed: UInt64(index + 1))),
                existing: end.1.existing)
        }
    }

    mutating func perform(_ step: UInt8, _ input: inout ByteReader) {
        let index = Int(step & 1)
        switch step >> 1 & 0x0f {
        case 0...4:
            // The end that `index` selects sends its next frame, or the other end if the first has none.
            let speaker = ends[index].frames.isEmpty ? 1 - index : index
            if !ends[speaker].frames.isEmpty { receive(ends[speaker].frames.removeFirst(), 1 - speaker) }
        case 5: if !ends[index].frames.isEmpty { ends[index].frames.removeFirst() }
        case 6: if let frame = ends[index].frames.first { receive(frame, 1 - index) }
        case 7:
            guard var frame = ends[index].frames.first, let at = try? input.u8("bit") else { break }
            frame[Int(at) / 8 % frame.count] ^= 1 << (at % 8)
            ends[index].frames[0] = frame
        case 8:
            guard let code = try? input.u8("code") else { break }
            let count = SMPCode(rawValue: code).octets ?? 3
            receive([code] + ((try? input.bytes(min(count - 1, input.remaining), "body")) ?? []), index)
        case 9: if (try? ends[index].machine.begin(.encryption, at: now)) != nil { ends[index].isOpen = true }
        case 10:
            // A peripheral that cancels its security request receives no further events about it.
            if !ends[index].machine.isPairing, ends[index].machine.role == .peripheral {
                ends[index].isOpen = false
            }
            ends[index].machine.cancel(at: now)
        case 11: answer(index, (try? input.u8("answer")) ?? 0)
        case 12: ends[index].machine.press(.digitEntered, at: now)
        case 13: ends[index].machine.encryptionChanged(isOn: false, at: now)
        case 14:
            now = now + .seconds(7)
            for end in 0..<2 { ends[end].machine.expire(at: now) }
        default: ends[index].machine.attempts = PairingAttempts()
        }
        drain(0)
        drain(1)
    }

    private mutating func receive(_ frame: [UInt8], _ index: Int) {
        ends[index].machine.receive(frame.span, at: now)
        drain(index)
    }

    private mutating func answer(_ index: Int, _ choice: UInt8) {
        let answers: [PairingAnswer] = [
            .accept, .refuse(.busy), .passkey(Passkey(lowestDigitsOf: UInt32(choice))),
            .comparison(choice > 9),
            .outOfBand(choice > 9 ? .temporaryKey(5) : nil),
        ]
        ends[index].machine.answer(answers[Int(choice) % 5], at: now)
    }

    mutating func drain(_ index: Int) {
        while true {
            var isThere = false
            let frame = [UInt8](capacity: 65) {
                isThere = ends[index].machine.nextFrame(into: &$0, at: .zero)
            }
            guard isThere else { break }
            guard let command = try? SMPCommand(frame) else { preconditionFailure("a malformed frame") }
            if case 0x06...0x0a = command.code.rawValue { precondition(ends[index].isEncrypted) }
            ends[index].frames.append(frame)
        }
        while let event = ends[index].machine.nextEvent() { handle(event, index) }
        precondition((ends[index].machine.deadline != nil) || !ends[index].machine.isPairing)
    }

    private mutating func handle(_ event: SecurityManager.Event, _ index: Int) {
        switch event {
        case .pairingRequested:
            ends[index].isOpen = true
            ends[index].machine.answer(.accept, at: now)
        case .confirm: ends[index].machine.answer(.accept, at: now)
        case .display, .enterPasskey:
            ends[index].machine.answer(.passkey(Passkey(lowestDigitsOf: 7)), at: now)
        case .compare: ends[index].machine.answer(.comparison(true), at: now)
        case .outOfBandWanted: ends[index].machine.answer(.outOfBand(.temporaryKey(5)), at: now)
        case .encrypt(let key), .provide(let key):
            ends[index].key = key
            ends[index].isEncrypted = false
            guard let ours = ends[0].key, ours == ends[1].key else { return }
            for end in 0..<2 {
                ends[end].isEncrypted = true
                ends[end].machine.encryptionChanged(isOn: true, at: now)
            }
        case .paired(let bond, let isBonding):
            precondition(ends[index].isOpen && ends[index].isEncrypted)
            let policy = ends[index].machine.policy
            precondition(bond.strength.keySize >= policy.minimumKeySize)
            precondition(bond.strength.isAuthenticated || !policy.requiresMITM)
            precondition(bond.strength.isSecureConnections || policy.secureConnections != .only)
            if let existing = ends[index].existing {
                precondition(!bond.strength.isWeaker(than: existing))
            }
            if isBonding { ends[index].existing = bond.strength }
            ends[index].key = nil
            ends[index].isOpen = false
        case .failed:
            ends[index].key = nil
            ends[index].isOpen = false
        case .securityRequested, .keypress, .refused: break
        }
    }
}
