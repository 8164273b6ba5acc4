import BLECore

/// Reports of legacy advertising, received by a legacy scan.
///
/// The specification describes the fields of the reports as columns, `Event_Type[i]`, `Address_Type[i]` and
/// so on. Its rule for such arrays (Vol 4, Part E, 5.2), and every controller and host, lay them out report
/// by report.
package struct LEAdvertisingReports: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.2.
    package static let definition = event(.advertisingReport, "Num_Reports", Self.init) { $0.reports }

    package struct Report: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Event_Type, Address, Data, RSSI",
            { (type, address, data: Counted<31>, rssi) in
                Self(type: type, address: address, data: data.octets, rssi: rssi)
            }
        ) {
            ($0.type, $0.address, Counted($0.data), $0.rssi)
        }
        package static let packetName = "LE Advertising Report"

        /// Event_Type: the kind of advertising PDU that the controller received.
        package struct Kind: HCICode {
            package let rawValue: UInt8

            package init(rawValue: UInt8) { self.rawValue = rawValue }

            /// Connectable and scannable undirected advertising (ADV_IND).
            package static let connectable = Kind(rawValue: 0x00)
            /// Connectable directed advertising (ADV_DIRECT_IND).
            package static let directed = Kind(rawValue: 0x01)
            /// Scannable undirected advertising (ADV_SCAN_IND).
            package static let scannable = Kind(rawValue: 0x02)
            /// Neither connectable nor scannable advertising (ADV_NONCONN_IND).
            package static let nonconnectable = Kind(rawValue: 0x03)
            /// A scan response (SCAN_RSP).
            package static let scanResponse = Kind(rawValue: 0x04)
        }

        package var type: Kind
        package var address: HCIAddress
        /// The advertising data, at most 31 octets.
        package var data: [UInt8]
        /// The RSSI in dBm, -127 to 20; 127 if it is not available.
        package var rssi: Int8

        package init(type: Kind, address: HCIAddress, data: [UInt8], rssi: Int8) {
            (self.type, self.address, self.data, self.rssi) = (type, address, data, rssi)
        }
    }

    /// The reports, in the order received.
    package var reports: [Report]

    /// Creates an event with the given reports, which must fit into 253 octets.
    package init(reports: [Report]) { self.reports = reports }
}

/// Reports of advertising that is directed at a private address that the controller could not resolve.
package struct LEDirectedAdvertisingReports: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.11.
    package static let definition = event(.directedAdvertisingReport, "Num_Reports", Self.init) { $0.reports }

    package struct Report: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Event_Type, Address, Direct_Address, RSSI", Self.init) {
            ($0.type, $0.address, $0.direct, $0.rssi)
        }
        package static let packetName = "LE Directed Advertising Report"

        /// The type of the received packet: always directed advertising.
        package var type: LEAdvertisingReports.Report.Kind
        package var address: HCIAddress
        /// Direct_Address: the private address that the advertising is directed at.
        package var direct: HCIAddress
        /// The RSSI in dBm, -127 to 20; 127 if it is not available.
        package var rssi: Int8

        package init(
            type: LEAdvertisingReports.Report.Kind = .directed, address: HCIAddress, direct: HCIAddress,
            rssi: Int8
        ) {
            (self.type, self.address, self.direct, self.rssi) = (type, address, direct, rssi)
        }
    }

    /// The reports, in the order received.
    package var reports: [Report]

    /// Creates an event with the given reports, which must fit into 253 octets.
    package init(reports: [Report]) { self.reports = reports }
}

/// Reports of legacy and extended advertising, received by an extended scan. They are laid out report by
/// report, as in `LEAdvertisingReports`.
package struct LEExtendedAdvertisingReports: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.13.
    package static let definition = event(.extendedAdvertisingReport, "Num_Reports", Self.init) { $0.reports }

    package struct Report: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            """
            Event_Type, Address, Primary_PHY, Secondary_PHY, Advertising_SID, TX_Power, RSSI, \
            Periodic_Advertising_Interval, Direct_Address, Data
            """,
            { (type, address, primary, secondary, sid, power, rssi, interval, direct, data: Counted<229>) in
                Self(
                    type: type, address: address, primaryPHY: primary, secondaryPHY: secondary, sid: sid,
                    txPower: power, rssi: rssi, periodicInterval: interval, direct: direct, data: data.octets)
            }
        ) {
            (
                $0.type, $0.address, $0.primaryPHY, $0.secondaryPHY, $0.sid, $0.txPower, $0.rssi,
                $0.periodicInterval, $0.direct, Counted($0.data)
            )
        }
        package static let packetName = "LE Extended Advertising Report"

        package var type: AdvertisingEventType
        /// The address of the advertiser; its type is `.anonymous` when the advertiser is anonymous.
        package var address: HCIAddress
        /// The PHY of the primary channels.
        package var primaryPHY: PHY
        /// The PHY of the auxiliary packets, which carry the data; `.none` for legacy advertising.
        package var secondaryPHY: PHY
        /// The advertising set identifier (SID), 0x00 to 0x0f; 0xff if there is none.
        package var sid: UInt8
        /// The transmit power in dBm; 127 if the advertiser does not include it.
        package var txPower: Int8
        /// The signal strength in dBm; 127 if it is not available.
        package var rssi: Int8
        /// The interval of periodic advertising; zero when there is none.
        package var periodicInterval: ConnectionInterval
        /// The target address of directed advertising.
        package var direct: HCIAddress
        /// The advertising data, or a part of it, at most 229 octets.
        package var data: [UInt8]

        package init(
            type: AdvertisingEventType, address: HCIAddress, primaryPHY: PHY = .le1M,
            secondaryPHY: PHY = .none, sid: UInt8 = 0xff, txPower: Int8 = 127, rssi: Int8,
            periodicInterval: ConnectionInterval = ConnectionInterval(rawValue: 0),
            direct: HCIAddress = HCIAddress(0, type: .public), data: [UInt8]
        ) {
            (self.type, self.address, self.primaryPHY) = (type, address, primaryPHY)
            (self.secondaryPHY, self.sid, self.txPower, self.rssi) = (secondaryPHY, sid, txPower, rssi)
            (self.periodicInterval, self.direct, self.data) = (periodicInterval, direct, data)
        }
    }

    /// The reports, in the order received.
    package var reports: [Report]

    /// Creates an event with the given reports, which must fit into 253 octets.
    package init(reports: [Report]) { self.reports = reports }
}

/// A scan with a limited duration has ended.
package struct LEScanTimeout: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.17.
    package static let definition = event(.scanTimeout, "", Self.init) { _ in }

    package init() {}
}

/// An advertising set has ended: its limit was reached, or a connection was created.
package struct LEAdvertisingSetTerminated: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.18.
    package static let definition = event(
        .advertisingSetTerminated,
        "Status, Advertising_Handle, Connection_Handle, Num_Completed_Extended_Advertising_Events", Self.init
    ) {
        ($0.status, $0.set, $0.connection, $0.completedEvents)
    }

    /// Success if a connection was created, otherwise `.advertisingTimeout` or `.limitReached`.
    package var status: HCIStatus
    package var set: AdvertisingHandle
    /// The connection that ended the advertising; valid only if `status` is success.
    package var connection: ConnectionHandle
    /// The number of extended advertising events that were sent.
    package var completedEvents: UInt8

    package init(
        status: HCIStatus, set: AdvertisingHandle, connection: ConnectionHandle = ConnectionHandle(0),
        completedEvents: UInt8 = 0
    ) {
        (self.status, self.set) = (status, set)
        (self.connection, self.completedEvents) = (connection, completedEvents)
    }
}

/// A scanner requested a scan response.
package struct LEScanRequestReceived: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.19.
    package static let definition = event(
        .scanRequestReceived, "Advertising_Handle, Scanner_Address", Self.init
    ) {
        ($0.set, $0.scanner)
    }

    package var set: AdvertisingHandle
    /// The address of the device that sent the scan request.
    package var scanner: HCIAddress

    package init(set: AdvertisingHandle, scanner: HCIAddress) { (self.set, self.scanner) = (set, scanner) }
}
