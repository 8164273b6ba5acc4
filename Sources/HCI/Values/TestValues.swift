/// What a transmitter test sends (Core Specification 5.4, Vol 4, Part E, 7.8.29). Patterns begin with the
/// first bit on air.
package struct TestPayload: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The pseudo-random sequence PRBS9.
    package static let prbs9 = TestPayload(rawValue: 0x00)
    /// The octet 11110000, repeated.
    package static let fourOnesFourZeros = TestPayload(rawValue: 0x01)
    /// The octet 10101010, repeated.
    package static let oneZero = TestPayload(rawValue: 0x02)
    /// The pseudo-random sequence PRBS15.
    package static let prbs15 = TestPayload(rawValue: 0x03)
    package static let ones = TestPayload(rawValue: 0x04)
    package static let zeros = TestPayload(rawValue: 0x05)
    /// The octet 00001111, repeated.
    package static let fourZerosFourOnes = TestPayload(rawValue: 0x06)
    /// The octet 01010101, repeated.
    package static let zeroOne = TestPayload(rawValue: 0x07)
}

/// The constant tone extension of test packets (Core Specification 5.4, Vol 4, Part E, 7.8.28 and 7.8.29).
package struct TestToneExtension: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout("CTE length, CTE type", Self.init) { ($0.length, $0.type) }
    package static let packetName = "constant tone extension"

    /// In steps of 8 us, 2 to 20; 0 for none.
    package var length: UInt8
    /// 0 AoA, 1 AoD with slots of 1 us, 2 AoD with slots of 2 us.
    package var type: UInt8

    package init(length: UInt8 = 0, type: UInt8 = 0) { (self.length, self.type) = (length, type) }
}
