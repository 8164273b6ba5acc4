import BLECore

/// The requirements of a 3D display for 3D glasses (3D Synchronization Profile 1.0.3, 4.3).
package struct ThreeDInformation: Hashable, Sendable {
    /// The features of the 3D display.
    package struct Features: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        /// Creates the features from that octet, including reserved bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The display supports association notification.
        package static let associationNotification = Self(rawValue: 0x01)
        /// The display accepts reports of the battery level.
        package static let batteryLevelReporting = Self(rawValue: 0x02)
        /// The display requires a battery level report when glasses start.
        package static let batteryLevelOnStartUp = Self(rawValue: 0x04)
        /// The display is in factory test mode.
        package static let factoryTestMode = Self(rawValue: 0x80)
    }

    /// The features of the 3D display.
    package var features: Features
    /// The path loss above which glasses are too far away, in decibels.
    package var pathLossThreshold: UInt8

    /// Creates the information from features and a path loss threshold.
    package init(features: Features, pathLossThreshold: UInt8) {
        self.features = features
        self.pathLossThreshold = pathLossThreshold
    }
}

extension ThreeDInformation: PacketDecodable, PacketEncodable {
    package static var packetName: String { "3D Information Data" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        features = Features(rawValue: try reader.u8("3D features"))
        pathLossThreshold = try reader.u8("path loss threshold")
    }

    package var encodedCount: Int { 2 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(features.rawValue)
        output.u8(pathLossThreshold)
    }
}
