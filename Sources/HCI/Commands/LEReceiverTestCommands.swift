import BLECore

/// Receives test packets on LE 1M and counts them.
package struct LEReceiverTest: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.28.
    package static let definition = command(.leReceiverTest, "RX channel", Self.init) { $0.channel }

    /// The channel by its frequency: 2,402 MHz and 2 MHz for each, 0 to 39.
    package var channel: UInt8

    package init(channel: UInt8) { self.channel = channel }
}

/// How exactly a transmitter keeps its modulation index (Core Specification 5.4, Vol 4, Part E, 7.8.28).
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
        .leReceiverTestV2, "RX channel, PHY, modulation index", Self.init
    ) {
        ($0.channel, $0.phy, $0.modulationIndex)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    package var phy: PHY
    /// What the transmitter is assumed to do.
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
        "RX channel, PHY, modulation index, expected CTE, slot durations, antenna IDs", Self.init
    ) {
        ($0.channel, $0.phy, $0.modulationIndex, $0.toneExtension, $0.slotDurations, $0.antennas)
    }

    /// The channel, as in `LEReceiverTest`.
    package var channel: UInt8
    package var phy: PHY
    /// What the transmitter is assumed to do.
    package var modulationIndex: ModulationIndex
    /// The constant tone extension that is expected in the test packets.
    package var toneExtension: TestToneExtension
    /// The length of switching and sampling slots: 1 us or 2 us.
    package var slotDurations: UInt8
    /// The antennas in the order of their use, 2 to 75.
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
    /// The packets that a receiver test has counted; 0 after a transmitter test.
    package typealias ReturnParameters = Returned<UInt16>

    package init() {}
}
