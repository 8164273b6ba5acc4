#if SecurityManager
import BLECore
import SMP
import Testing

/// The random numbers with which a separate program over another library calculated the expected octets.
private struct CountedNumbers: RandomNumberGenerator, Sendable {
    let tag: UInt64
    var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count += 1
        return tag << 56 | count
    }
}

private func transcript(_ text: String) -> [PairedMachines.Frame] {
    text.split(separator: "\n").map { line in
        PairedMachines.Frame(
            from: line.first == "i" ? .central : .peripheral, octets: [UInt8](hex: line.dropFirst(2)) ?? [])
    }
}

@Test func legacyPairingMatchesTranscript() throws {
    var policies = [PairingPolicy(ioCapability: .keyboardOnly), PairingPolicy(ioCapability: .displayOnly)]
    policies[0].secureConnections = .off
    policies[1].fixedPasskey = Passkey(19655)
    var pair = PairedMachines(
        policies[0], policies[1], CountedNumbers(tag: 0xa1), CountedNumbers(tag: 0xb2))
    try pair.pair()
    #expect(
        pair.frames
            == transcript(
                """
                i 01020005100707
                r 02000005100707
                i 03fbb23a96892c38f7ebd11cf40e24f0cf
                r 0301513df9900ae8fd9db481c2b5587f13
                i 0402000000000000a101000000000000a1
                r 0402000000000000b201000000000000b2
                r 0605000000000000b204000000000000b2
                r 07030006000000000000b2
                r 0866665555444400000000000000000000
                r 0900b6b5b4b3b2b1
                r 0a08000000000000b207000000000000b2
                i 0605000000000000a104000000000000a1
                i 07030006000000000000a1
                i 0833332222111100000000000000000000
                i 0901010000eeffc0
                i 0a08000000000000a107000000000000a1
                """))
    let key = LongTermKey(0x93f9_4cac_d5af_cbf2_7ed1_9b5f_d7fc_fed8)
    #expect(pair.initiatorEvents.contains(.encrypt(key)))
    #expect(pair.responderEvents.contains(.provide(key)))
}

@Test func secureConnectionsPairingMatchesTranscript() throws {
    var pair = PairedMachines(
        PairingPolicy(ioCapability: .displayYesNo), PairingPolicy(ioCapability: .keyboardDisplay),
        CountedNumbers(tag: 0xa1), CountedNumbers(tag: 0xb2))
    try pair.pair()
    #expect(
        pair.frames
            == transcript(
                """
                i 0101000d100707
                r 0204000d100606
                i 0cb5bd329c27c74f00b605c37b9b42937cd01a149d5660e3a1d9dc7d30c4906f55\
                6202fbf2594d61ea92cecfb897d87a80ea331133b946a9449df9aa6d3eda23ad
                r 0c178f63ed5feffa2ef478e4984cb06facfc4cee6f85e69fa9582441a2feadd7dc\
                c2500df16ecd87c94483f37448ecb2ddeb6220b3d31e6d4f66c5096aa8d42944
                r 033b03068f55b8425c602de63e3548d125
                i 0406000000000000a105000000000000a1
                r 0406000000000000b205000000000000b2
                i 0d37ab4ba8133812f474222b1cc3948054
                r 0d5fd85e6b7c223d3b43804e4e4d3b6177
                r 0866665555444400000000000000000000
                r 0900b6b5b4b3b2b1
                r 0a08000000000000b207000000000000b2
                i 0833332222111100000000000000000000
                i 0901010000eeffc0
                i 0a08000000000000a107000000000000a1
                """))
    let number = try #require(Passkey(358_100))
    #expect(pair.initiatorEvents.contains(.compare(number)))
    #expect(pair.responderEvents.contains(.compare(number)))
    #expect(pair.initiatorBond?.centralKey == LongTermKey(0x11c7_131e_504c_3b6e_2e1e_37ff_6a8a_3f31))
}
#endif
