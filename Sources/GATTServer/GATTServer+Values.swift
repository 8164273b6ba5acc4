import ATT
import BLECore

/// A central that wants a characteristic's values.
public struct GATTSubscriber: Hashable, Sendable {
    /// Who.
    public let central: CentralID
    /// How.
    public let configuration: ClientCharacteristicConfiguration

    /// A central that wants values in a way.
    public init(central: CentralID, configuration: ClientCharacteristicConfiguration) {
        self.central = central
        self.configuration = configuration
    }

    /// By indication only where the central did not ask for notifications, which cost it less.
    public var prefersIndications: Bool { !configuration.contains(.notify) }
}

/// Why the application cannot set a value.
public enum AttributeValueError: Error, Hashable, Sendable {
    /// No attribute with this handle has a stored value.
    case notFound(AttributeHandle)
    /// The value was cached when its service was published.
    case cached(AttributeHandle)
    /// The attribute does not take so many octets.
    case invalidLength(octets: Int, AttributeLength)
}

extension AttributeValueError: CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        switch self {
        case .notFound(let handle): "no value has the handle \(handle)"
        case .cached(let handle): "the value of \(handle) is cached; only a stored one may change"
        case .invalidLength(let octets, .fixed(let count)):
            "\(octets) octets, the attribute has always \(count)"
        case .invalidLength(let octets, .variable(let max)): "\(octets) octets, the attribute takes \(max)"
        }
    }
}

extension GATTServer {
    /// Stores a value of the application's: of a characteristic or a descriptor that all clients share.
    public mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) throws(AttributeValueError) {
        shared.database.attributes[try settableIndex(of: handle, for: value)].value = value
    }

    /// Throws what `setValue` would throw, and changes nothing.
    public func checkValue(_ value: [UInt8], of handle: AttributeHandle) throws(AttributeValueError) {
        _ = try settableIndex(of: handle, for: value)
    }

    private func settableIndex(
        of handle: AttributeHandle, for value: [UInt8]
    ) throws(AttributeValueError) -> Int {
        guard let index = shared.database.index(of: handle) else { throw .notFound(handle) }
        switch shared.database.attributes[index].kind {
        case .declaration, .clientConfiguration: throw .notFound(handle)
        case .value where shared.database.attributes[index].role != nil: throw .notFound(handle)
        case .value where shared.database.attributes[index].isCached: throw .cached(handle)
        case .value, .descriptor: break
        }
        let length = shared.database.attributes[index].length
        switch length {
        case .fixed(let count) where value.count != count: throw .invalidLength(octets: value.count, length)
        case .variable(let max) where value.count > max: throw .invalidLength(octets: value.count, length)
        case .fixed, .variable: return index
        }
    }

    /// The centrals that want the values of the characteristic with this value handle. One with robust caching
    /// that does not know of a change of the database gets none until it does (Core Specification 5.4, Vol 3,
    /// Part G, 2.5.2.1).
    public func subscribers(of handle: AttributeHandle) -> [GATTSubscriber] {
        var subscribers: [GATTSubscriber] = []
        for (central, link) in links {
            guard let configuration = link.configurations[handle],
                link.awareness.isAware || !link.features.contains(.robustCaching)
            else { continue }
            subscribers.append(GATTSubscriber(central: central, configuration: configuration))
        }
        return subscribers.sorted { $0.central.rawValue < $1.central.rawValue }
    }

    /// How `central` wants the values of the characteristic with this value handle; nothing when it does not.
    public func configuration(
        of handle: AttributeHandle, for central: CentralID
    ) -> ClientCharacteristicConfiguration {
        links[central]?.configurations[handle] ?? []
    }
}
