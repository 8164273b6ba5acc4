import BLECore
import HCI

/// What to advertise and how.
public struct AdvertisingRequest: Hashable, Sendable {
    /// The packets.
    public var plan: AdvertisingPlan
    /// Whether others may connect or ask for a scan response.
    public var kind: AdvertisingKind
    /// Time between two advertising events, 20 ms to 10.24 s.
    public var interval: Duration = .milliseconds(100)
    /// The transmit power to ask for in dBm, where the controller lets one choose.
    public var power: Int8?

    /// A request for the packets of `plan`.
    public init(_ plan: AdvertisingPlan, kind: AdvertisingKind = .connectable) {
        self.plan = plan
        self.kind = kind
    }

    /// The interval, when it is one that legacy and extended advertising take.
    func checkedInterval() throws(BLEError) -> Duration {
        guard interval >= .milliseconds(20), interval <= .milliseconds(10_240) else {
            throw .limit(
                "an advertising interval, in milliseconds from 20,", limit: 10_240,
                value: Int(interval.nanoseconds / 1_000_000))
        }
        return interval
    }

    /// What the extended commands make of the kind: legacy packets, unless the plan wants more room.
    var properties: LESetExtendedAdvertisingParameters.Properties {
        guard plan.extended == nil else {
            return switch kind {
            case .connectable: .connectable
            case .scannable: .scannable
            case .nonconnectable: []
            }
        }
        return switch kind {
        case .connectable: [.legacy, .connectable, .scannable]
        case .scannable: [.legacy, .scannable]
        case .nonconnectable: .legacy
        }
    }

    /// The payloads to set. An extended scannable set has data in its scan response only.
    var payloads: (data: [UInt8]?, scanResponse: [UInt8]?) {
        switch (plan.extended, kind) {
        case (let extended?, .scannable): (nil, extended)
        case (let extended?, _): (extended, nil)
        case (nil, .nonconnectable): (plan.data, nil)
        case (nil, _): (plan.data, plan.scanResponse)
        }
    }
}

extension AdvertisingKind {
    /// The legacy packet type.
    var legacyType: AdvertisingType {
        switch self {
        case .connectable: .connectable
        case .scannable: .scannable
        case .nonconnectable: .nonconnectable
        }
    }
}

extension LegacyAdvertisingData {
    /// The data, or the library's error for too much of it.
    static func checked(_ data: [UInt8]) throws(BLEError) -> LegacyAdvertisingData {
        do throws(HCIParameterError) {
            return try LegacyAdvertisingData(data)
        } catch {
            throw .limit("advertising data", limit: capacity, value: data.count)
        }
    }
}

extension AdvertisingDataFragment {
    /// The commands' worth of `data`: one when it fits, else first, intermediate and last ones.
    static func fragments(of data: [UInt8]) -> [AdvertisingDataFragment] {
        let pieces =
            data.isEmpty
            ? [data[...]]
            : stride(from: 0, to: data.count, by: capacity).map {
                data[$0..<min($0 + capacity, data.count)]
            }
        return pieces.enumerated().compactMap { index, piece in
            let operation: Operation =
                switch (index == 0, index == pieces.count - 1) {
                case (true, true): .complete
                case (true, false): .first
                case (false, true): .last
                case (false, false): .intermediate
                }
            // Never nil: no piece is longer than the capacity.
            return try? AdvertisingDataFragment(set: advertisingSet, operation: operation, Array(piece))
        }
    }
}
