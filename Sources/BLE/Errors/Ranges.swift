import ATT
import BLECore

extension BLEError {
    /// A number that has a range.
    public enum Parameter: Hashable, Sendable {
        /// The transmit power that advertising requests, in dBm.
        case transmitPower
        /// The number of an advertising set, Advertising_SID.
        case advertisingSetID
        /// The number of advertising events, 1 to 255.
        case advertisingEvents
        /// The number of attempts to establish a connection.
        case establishmentAttempts
        /// The Peripheral latency, in connection events.
        case latency
        /// The number of data channels that links can use.
        case dataChannels
        /// The octets of a link layer packet's payload.
        case dataLength
        /// The number of events of a periodic train that a scanner may skip.
        case skippedEvents
        /// The offset in a value at which a read begins, in octets.
        case readOffset
        /// The command field (OCF) of an opcode.
        case commandField
    }

    /// A time that has a range.
    public enum TimeParameter: Hashable, Sendable {
        /// The time between two advertising events.
        case advertisingInterval
        /// The time after which advertising ends; it is greater than 0.
        case advertisingDuration
        /// The interval of a periodic train.
        case periodicInterval
        /// The time after which a periodic train that is not received counts as lost.
        case synchronizationTimeout
        /// The time between the starts of two scan windows.
        case scanInterval
        /// The interval of a scan with the legacy commands.
        case legacyScanInterval
        /// The time that a scan window lasts, at most the scan interval.
        case scanWindow
        /// The time between two connection events.
        case connectionInterval
        /// The supervision timeout of a connection.
        case supervisionTimeout
        /// The transmission time of a link layer packet.
        case packetTime
        /// The time for which a private address is used.
        case privateAddressLifetime
    }

    /// A number that has a maximum, of the protocol or of this library.
    public enum Limit: Hashable, Sendable {
        /// The octets of the value in a PDU with this opcode, at the bearer's MTU.
        case value(ATTOpcode)
        /// The octets of a notified or indicated value for that device, at its bearer's MTU.
        case notification(DeviceAddress)
        /// The octets of an attribute's value.
        case valueLength
        /// The offset in a value at which a read begins.
        case readOffset
        /// Requests that wait on one link.
        case waitingRequests
        /// Commands and notifications that wait on one link.
        case waitingCommands
        /// Indications that wait on one link.
        case waitingIndications
        /// Commands of a command channel that wait for a link.
        case heldCommands
        /// The octets of a virtual adapter's name, in UTF-8.
        case adapterName
        /// The number of advertisements at a time on this controller.
        case advertisements
        /// The advertising sets that this program can have beside those of other programs.
        case freeAdvertisingSets
        /// The octets of connectable extended advertising, which have to fit into one packet.
        case connectableData
        /// The octets of advertising data that this controller supports.
        case advertisingData
        /// The octets of advertising data that can be sent within the interval.
        case advertisingDataInInterval
        /// The octets of a periodic train that this controller supports.
        case periodicData
        /// The octets of a periodic train that can be sent within its interval.
        case periodicDataInInterval
        /// The octets of a command's parameters.
        case commandParameters
        /// The number of bonds in one folder.
        case bonds
    }
}

extension BLEError.Parameter: CustomStringConvertible {
    /// A phrase: "number of an advertising set".
    public var description: String {
        switch self {
        case .transmitPower: "transmit power"
        case .advertisingSetID: "number of an advertising set"
        case .advertisingEvents: "number of advertising events"
        case .establishmentAttempts: "number of attempts to connect"
        case .latency: "latency"
        case .dataChannels: "number of data channels"
        case .dataLength: "data length"
        case .skippedEvents: "number of skipped events"
        case .readOffset: "offset of a read"
        case .commandField: "number of a command in its group"
        }
    }

    /// The unit of the numbers; nil when the name of the parameter contains it.
    package var unit: String? {
        switch self {
        case .transmitPower: "dBm"
        case .latency: "connection events"
        case .dataLength, .readOffset: "octets"
        case .advertisingSetID, .advertisingEvents, .establishmentAttempts, .dataChannels, .skippedEvents,
            .commandField:
            nil
        }
    }
}

extension BLEError.TimeParameter: CustomStringConvertible {
    /// A phrase for messages: "advertising interval".
    public var description: String {
        switch self {
        case .advertisingInterval: "advertising interval"
        case .advertisingDuration: "duration of advertising"
        case .periodicInterval: "interval of periodic advertising"
        case .synchronizationTimeout: "synchronization timeout"
        case .scanInterval: "scan interval"
        case .legacyScanInterval: "scan interval of the legacy commands"
        case .scanWindow: "scan window"
        case .connectionInterval: "connection interval"
        case .supervisionTimeout: "supervision timeout"
        case .packetTime: "packet time"
        case .privateAddressLifetime: "lifetime of a private address"
        }
    }
}

extension BLEError.Limit: CustomStringConvertible {
    /// A phrase, with what is counted: "octets of a Write Command's value at this MTU".
    public var description: String {
        switch self {
        case .value(let opcode): "octets of a \(opcode)'s value at this MTU"
        case .notification(let peer): "octets of a value for \(peer) at its MTU"
        case .valueLength: "octets of a value"
        case .readOffset: "octets to skip in a read"
        case .waitingRequests: "requests that wait on one link"
        case .waitingCommands: "commands and notifications that wait on one link"
        case .waitingIndications: "indications that wait on one link"
        case .heldCommands: "commands that wait for a link"
        case .adapterName: "octets of a virtual adapter's name"
        case .advertisements: "simultaneous advertisements on this controller"
        case .freeAdvertisingSets: "advertising sets of this program"
        case .connectableData: "octets of connectable advertising in one packet"
        case .advertisingData: "octets of advertising data on this controller"
        case .advertisingDataInInterval: "octets of advertising data within the interval"
        case .periodicData: "octets of periodic advertising on this controller"
        case .periodicDataInInterval: "octets of periodic advertising within its interval"
        case .commandParameters: "octets of a command's parameters"
        case .bonds: "bonds"
        }
    }
}

extension BLEError {
    /// Returns a text such as "10 ms is below the least advertising interval, 20 ms".
    static func text(
        _ value: String, isBelow: Bool, _ parameter: some CustomStringConvertible, _ bound: String
    ) -> String {
        isBelow
            ? "\(value) is below the least \(parameter), \(bound)"
            : "\(value) is above the greatest \(parameter), \(bound)"
    }
}
