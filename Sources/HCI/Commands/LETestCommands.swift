import BLECore

/// Receives test packets on LE 1M and counts them.
package struct LEReceiverTest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.28.
    package static let definition = command(.leReceiverTest, "RX_Channel", Self.init) { $0.channel }

    /// The channel by its frequency, 0 to 39: 2,402 MHz plus 2 MHz for each number.
    package var channel: UInt8

    package init(channel: UInt8) { self.channel = channel }
}

/// The accuracy of a transmitter's modulation index (Core Specification 5.4, Vol 4, Part E, 7.8.28).
package struct ModulationIndex: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The receiver assumes a standard modulation index.
    package static let standard = ModulationIndex(rawValue: 0x00)
    /// The receiver assumes a stable modulation index.
    package static let stable = ModulationIndex(rawValue: 0x01)
}

/// Receives test packets on a PHY and counts them.
package struct LEReceiverTestV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.28.
    package static let definition = command(
        .leReceiverTestV2, "RX_Channel, PHY, Modulation_Index", Self.init
    ) {
        ($0.channel, $0.phy, $0.modulationIndex)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    package var phy: PHY
    /// The modulation index that the receiver assumes of the transmitter.
    package var modulationIndex: ModulationIndex

    package init(channel: UInt8, phy: PHY, modulationIndex: ModulationIndex = .standard) {
        (self.channel, self.phy, self.modulationIndex) = (channel, phy, modulationIndex)
    }
}

/// Receives test packets with a constant tone extension and counts them.
package struct LEReceiverTestV3: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.28.
    package static let definition = command(
        .leReceiverTestV3,
        "RX_Channel, PHY, Modulation_Index, Expected_CTE_Length, Slot_Durations, Antenna_IDs", Self.init
    ) {
        ($0.channel, $0.phy, $0.modulationIndex, $0.toneExtension, $0.slotDurations, $0.antennas)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    package var phy: PHY
    /// The modulation index that the receiver assumes of the transmitter.
    package var modulationIndex: ModulationIndex
    /// The constant tone extension that is expected in the test packets.
    package var toneExtension: TestToneExtension
    /// The length of the switching and sampling slots: 1 us or 2 us.
    package var slotDurations: UInt8
    /// The antennas, in the order of their use, 2 to 75.
    package var antennas: [UInt8]

    package init(
        channel: UInt8, phy: PHY, modulationIndex: ModulationIndex = .standard,
        toneExtension: TestToneExtension = TestToneExtension(), slotDurations: UInt8 = 1,
        antennas: [UInt8] = []
    ) {
        (self.channel, self.phy, self.modulationIndex) = (channel, phy, modulationIndex)
        (self.toneExtension, self.slotDurations, self.antennas) = (toneExtension, slotDurations, antennas)
    }
}

/// Ends a test of the receiver or the transmitter.
package struct LETestEnd: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.30.
    package static let definition = command(.leTestEnd, "", Self.init) { _ in }
    /// The number of packets that a receiver test has counted; 0 after a transmitter test.
    package typealias ReturnParameters = Returned<UInt16>

    package init() {}
}

/// Sends test packets on LE 1M.
package struct LETransmitterTest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(
        .leTransmitterTest, "TX_Channel, Test_Data_Length, Packet_Payload", Self.init
    ) {
        ($0.channel, $0.length, $0.payload)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// The payload length in octets, 0 to 255.
    package var length: UInt8
    package var payload: TestPayload

    package init(channel: UInt8, length: UInt8, payload: TestPayload) {
        (self.channel, self.length, self.payload) = (channel, length, payload)
    }
}

/// Sends test packets on a PHY.
package struct LETransmitterTestV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(
        .leTransmitterTestV2, "TX_Channel, Test_Data_Length, Packet_Payload, PHY", Self.init
    ) {
        ($0.channel, $0.length, $0.payload, $0.phy)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// The payload length in octets, 0 to 255.
    package var length: UInt8
    package var payload: TestPayload
    package var phy: PHYAndCoding

    package init(channel: UInt8, length: UInt8, payload: TestPayload, phy: PHYAndCoding) {
        (self.channel, self.length, self.payload, self.phy) = (channel, length, payload, phy)
    }
}

/// Sends test packets with a constant tone extension.
package struct LETransmitterTestV3: HCICommand, HCIField {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(
        .leTransmitterTestV3,
        "TX_Channel, Test_Data_Length, Packet_Payload, PHY, CTE_Length, Antenna_IDs", Self.init
    ) {
        ($0.channel, $0.length, $0.payload, $0.phy, $0.toneExtension, $0.antennas)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// The payload length in octets, 0 to 255.
    package var length: UInt8
    package var payload: TestPayload
    package var phy: PHYAndCoding
    package var toneExtension: TestToneExtension
    /// The antennas, in the order of their use, 2 to 75.
    package var antennas: [UInt8]

    package init(
        channel: UInt8, length: UInt8, payload: TestPayload, phy: PHYAndCoding,
        toneExtension: TestToneExtension = TestToneExtension(), antennas: [UInt8] = []
    ) {
        (self.channel, self.length, self.payload, self.phy) = (channel, length, payload, phy)
        (self.toneExtension, self.antennas) = (toneExtension, antennas)
    }
}

/// Sends test packets with a constant tone extension at a given transmit power.
package struct LETransmitterTestV4: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(.leTransmitterTestV4, "TX_Channel, TX_Power_Level", Self.init) {
        ($0.test, $0.txPower)
    }

    /// The value that stands for the minimum power of the controller.
    package static let leastPower: Int8 = 0x7e
    /// The value that stands for the maximum power of the controller.
    package static let greatestPower: Int8 = 0x7f

    /// The parameters that the third version of the command also has.
    package var test: LETransmitterTestV3
    /// The transmit power in dBm, -127 to 20, rounded to the nearest supported one; or `leastPower` or
    /// `greatestPower`.
    package var txPower: Int8

    package init(test: LETransmitterTestV3, txPower: Int8 = greatestPower) {
        (self.test, self.txPower) = (test, txPower)
    }
}

/// The payload of test packets (Core Specification 5.4, Vol 4, Part E, 7.8.29). The bits of a pattern are in
/// the order of transmission.
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
    package static let layout = HCILayout("CTE_Length, CTE_Type", Self.init) { ($0.length, $0.type) }
    package static let packetName = "constant tone extension"

    /// The length in units of 8 us, 2 to 20; 0 for none.
    package var length: UInt8
    /// The type: 0 for AoA, 1 for AoD with slots of 1 us, 2 for AoD with slots of 2 us.
    package var type: UInt8

    package init(length: UInt8 = 0, type: UInt8 = 0) { (self.length, self.type) = (length, type) }
}
