import BLECore

/// What a 3D display requires of 3D glasses (3D Synchronization Profile 1.0.3, 4.3).
package struct ThreeDInformation: Hashable, Sendable {
    /// The features of the 3D display.
    package struct Features: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        /// The features of that octet, reserved bits included.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The display notifies of associations.
        package static let associationNotification = Self(rawValue: 0x01)
        /// The display accepts reports of the battery level.
        package static let batteryLevelReporting = Self(rawValue: 0x02)
        /// The display requires one when glasses start.
        package static let batteryLevelOnStartUp = Self(rawValue: 0x04)
        /// It is being tested in a factory.
        package static let factoryTestMode = Self(rawValue: 0x80)
    }

    /// The features of the 3D display.
    package var features: Features
    /// The path loss above which glasses are too far away, in decibels.
    package var pathLossThreshold: UInt8

    /// What a display does, and how far away.
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
