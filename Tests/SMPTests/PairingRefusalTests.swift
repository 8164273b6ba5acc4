import BLECore
import SMP
import Testing

private func answer(_ machine: inout PairingRefusal, to frame: [UInt8]) -> (
    frame: [UInt8], event: PairingRefusal.Event?
) {
    machine.receive(frame.span, at: .zero)
    let sent = [UInt8](capacity: 65) { output in
        while machine.nextFrame(into: &output, at: .zero) {}
    }
    return (sent, machine.nextEvent())
}

@Test func pairingAndSecurityRequestsAreNotSupported() {
    var machine = PairingRefusal()
    let pairing = answer(&machine, to: [1, 3, 0, 1, 16, 7, 7])
    #expect(pairing.frame == [5, 5])
    #expect(pairing.event == .refused(.pairingRequest, .pairingNotSupported))
    let security = answer(&machine, to: [0x0b, 0x01])
    #expect(security.frame == [5, 5])
    #expect(security.event == .refused(.securityRequest, .pairingNotSupported))
    #expect(machine.deadline == nil)
}

@Test func otherCommandsAreRefusedAndTruncatedOnesInvalid() {
    var machine = PairingRefusal()
    #expect(answer(&machine, to: [0x0e, 0]).frame == [5, 7])
    #expect(answer(&machine, to: [0x03] + [UInt8](repeating: 0, count: 16)).frame == [5, 7])
    #expect(answer(&machine, to: [0x01]).frame == [5, 0x0a])
    #expect(answer(&machine, to: [0x0b, 1, 2]).frame == [5, 0x0a])
    #expect(answer(&machine, to: [0x0b, 1, 2]).event == .refused(.securityRequest, .invalidParameters))
}

@Test func pairingFailedReservedCodesAndEmptyFramesAreIgnored() {
    var machine = PairingRefusal()
    for frame in [[], [5, 5], [5], [5, 5, 5], [0], [0x0f, 1], [0xff]] as [[UInt8]] {
        let result = answer(&machine, to: frame)
        #expect(result.frame.isEmpty)
        #expect(result.event == nil)
    }
}

@Test func requestFloodReceivesOneResponse() {
    var machine = PairingRefusal()
    for _ in 0..<1000 { machine.receive([0x0b, 1].span, at: .zero) }
    #expect(answer(&machine, to: [0x0e, 0]).frame == [5, 7])
    #expect(answer(&machine, to: [5, 7]).frame.isEmpty)
}

@Test func twoRefusingEndsStopResponding() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<2000 {
        var ends = [PairingRefusal(), PairingRefusal()]
        var frame = random.bytes(upTo: 20)
        var turns = 0
        while !frame.isEmpty, turns < 10 {
            frame = answer(&ends[turns % 2], to: frame).frame
            turns += 1
        }
        #expect(turns <= 2)
    }
}
