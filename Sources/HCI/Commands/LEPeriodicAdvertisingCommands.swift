import BLECore

/// Sets the parameters of the periodic train of an advertising set. The set must not be connectable,
/// scannable or anonymous, and must not use legacy packets.
package struct LESetPeriodicAdvertisingParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.61.
    package static let definition = command(
        .leSetPeriodicAdvertisingParameters,
        """
        Advertising_Handle, Periodic_Advertising_Interval_Min, Periodic_Advertising_Interval_Max, \
        Periodic_Advertising_Properties
        """, Self.init
    ) {
        ($0.set, $0.intervalMin, $0.intervalMax, $0.properties)
    }

    /// The content of the train's packets in addition to the data.
    package struct Properties: OptionSet, HCICode {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The packets contain the transmit power.
        package static let includesTxPower = Properties(rawValue: 1 << 6)
    }

    package var set: AdvertisingHandle
    /// The minimum time between packets, 7.5 ms to 81.91875 s (0x0006 to 0xffff).
    package var intervalMin: ConnectionInterval
    /// The maximum time between packets, at least `intervalMin`.
    package var intervalMax: ConnectionInterval
    /// The content of the packets in addition to the data.
    package var properties: Properties

    package init(
        set: AdvertisingHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        properties: Properties = []
    ) {
        (self.set, self.intervalMin, self.intervalMax) = (set, intervalMin, intervalMax)
        self.properties = properties
    }
}

/// A fragment of the data of a periodic train.
package struct PeriodicAdvertisingDataFragment: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        "Advertising_Handle, Operation, Advertising_Data", Self.init(set:operation:data:)
    ) {
        ($0.set, $0.operation, $0.data)
    }
    package static let packetName = "periodic advertising data fragment"
    /// The maximum number of data octets in one command.
    package static let capacity = 252

    package let set: AdvertisingHandle
    /// The fragment's position in the data.
    package let operation: AdvertisingDataFragment.Operation
    package let data: [UInt8]

    /// Creates a fragment for `set`.
    /// - Throws: if there are more than 252 octets.
    package init(
        set: AdvertisingHandle, operation: AdvertisingDataFragment.Operation = .complete, _ data: [UInt8]
    ) throws(HCIParameterError) {
        guard data.count <= Self.capacity else {
            throw HCIParameterError(field: "Advertising_Data", value: data.count, limit: Self.capacity)
        }
        self.init(set: set, operation: operation, data: data)
    }

    private init(set: AdvertisingHandle, operation: AdvertisingDataFragment.Operation, data: [UInt8]) {
        (self.set, self.operation, self.data) = (set, operation, data)
    }
}

/// Sets the data of a periodic train. Several fragments are accepted only while the train is disabled.
package struct LESetPeriodicAdvertisingData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.62.
    package static let definition = command(.leSetPeriodicAdvertisingData, "Advertising_Handle", Self.init) {
        $0.fragment
    }

    /// The data, or a fragment of it.
    package var fragment: PeriodicAdvertisingDataFragment

    package init(fragment: PeriodicAdvertisingDataFragment) { self.fragment = fragment }
}

/// Starts or stops a periodic train. The train starts when its advertising set, which announces it, is
/// enabled, and continues when the set is disabled.
package struct LESetPeriodicAdvertisingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.63.
    package static let definition = command(
        .leSetPeriodicAdvertisingEnable, "Enable, Advertising_Handle", Self.init
    ) {
        ($0.enable, $0.set)
    }

    /// Whether to send the train, and the content of its packets.
    package struct Enable: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The train is enabled.
        package static let on = Enable(rawValue: 1 << 0)
        /// The packets identify their data by a number (ADI), so that receivers can skip data that they
        /// already have.
        package static let includesADI = Enable(rawValue: 1 << 1)
    }

    package var enable: Enable
    package var set: AdvertisingHandle

    /// Creates a command that starts or stops the train of `set`.
    package init(enable: Enable, set: AdvertisingHandle) { (self.enable, self.set) = (enable, set) }
}
