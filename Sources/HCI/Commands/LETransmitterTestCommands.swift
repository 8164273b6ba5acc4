import BLECore

/// Sends test packets on LE 1M.
package struct LETransmitterTest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(.leTransmitterTest, "TX channel, length, payload", Self.init) {
        ($0.channel, $0.length, $0.payload)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// Octets of payload, 0 to 255.
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
        .leTransmitterTestV2, "TX channel, length, payload, PHY", Self.init
    ) {
        ($0.channel, $0.length, $0.payload, $0.phy)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// Octets of payload, 0 to 255.
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
        .leTransmitterTestV3, "TX channel, length, payload, PHY, CTE, antenna IDs", Self.init
    ) {
        ($0.channel, $0.length, $0.payload, $0.phy, $0.toneExtension, $0.antennas)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    /// Octets of payload, 0 to 255.
    package var length: UInt8
    package var payload: TestPayload
    package var phy: PHYAndCoding
    package var toneExtension: TestToneExtension
    /// The antennas in the order of their use, 2 to 75.
    package var antennas: [UInt8]

    package init(
        channel: UInt8, length: UInt8, payload: TestPayload, phy: PHYAndCoding,
        toneExtension: TestToneExtension = TestToneExtension(), antennas: [UInt8] = []
    ) {
        (self.channel, self.length, self.payload, self.phy) = (channel, length, payload, phy)
        (self.toneExtension, self.antennas) = (toneExtension, antennas)
    }
}

/// Sends test packets with a constant tone extension, at a given TX power.
package struct LETransmitterTestV4: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.29.
    package static let definition = command(.leTransmitterTestV4, "test, TX power", Self.init) {
        ($0.test, $0.txPower)
    }

    /// The power that stands for the least that the controller has.
    package static let leastPower: Int8 = 0x7e
    /// The power that stands for the greatest that the controller has.
    package static let greatestPower: Int8 = 0x7f

    /// The parameters that the third version of the command has too.
    package var test: LETransmitterTestV3
    /// dBm, -127 to 20, of which the nearest is taken; `leastPower` or `greatestPower`.
    package var txPower: Int8

    package init(test: LETransmitterTestV3, txPower: Int8 = greatestPower) {
        (self.test, self.txPower) = (test, txPower)
    }
}
