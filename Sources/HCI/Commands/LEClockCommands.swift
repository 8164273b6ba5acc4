import BLECore

/// Makes the controller's sleep clock more or less accurate, to test how peers react.
package struct LEModifySleepClockAccuracy: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.94.
    package static let definition = command(.leModifySleepClockAccuracy, "Action", Self.init) { $0.action }

    /// The direction in which the accuracy of the sleep clock changes.
    package struct Action: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Requests a change to a more accurate clock.
        package static let moreAccurate = Action(rawValue: 0x00)
        /// Requests a change to a less accurate clock.
        package static let lessAccurate = Action(rawValue: 0x01)
    }

    package var action: Action

    package init(action: Action) { self.action = action }
}

/// Reads the accuracy of a connected peer's sleep clock. LE Request Peer SCA Complete follows.
package struct LERequestPeerSCA: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.108.
    package static let definition = command(.leRequestPeerSCA, "Connection_Handle", Self.init) {
        $0.connection
    }
    /// LE Request Peer SCA Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}
