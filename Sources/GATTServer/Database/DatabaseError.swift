import ATT
import BLECore

/// The error of a description that cannot become a database: the place in the description, and the rule that
/// it breaks.
public struct DatabaseError: Error, Hashable, Sendable {
    /// The rule that the description breaks.
    public enum Reason: Hashable, Sendable {
        /// The handle is 0x0000, is taken, or comes after a greater one of the same service.
        case handleNotFree(AttributeHandle)
        /// The last handle of the service is before that of its last attribute.
        case endHandleTooLow(AttributeHandle, last: AttributeHandle)
        /// There is no room for the service up to 0xffff, although single handles can be free.
        case outOfHandles
        /// The value has `octets` octets, but at most `maximum` are allowed.
        case valueTooLong(octets: Int, maximum: Int)
        /// The value has `octets` octets, but must always have `count`.
        case valueNotFixed(octets: Int, count: Int)
        /// The length is not within 0 to 512.
        case lengthOutOfRange(Int)
        /// The key size is not within 7 to 16.
        case keySizeOutOfRange(Int)
        /// The properties offer what the permissions forbid.
        case propertyNotPermitted(CharacteristicProperties)
        /// The value is cached, but would change with these properties.
        case cachedValueChanges(CharacteristicProperties)
        /// The value is cached, but a handler would answer in its place.
        case cachedValueHandled
        /// A descriptor that a characteristic can have only once is repeated.
        case repeatedDescriptor(BluetoothUUID)
        /// The included service does not exist.
        case includeNotFound(GATTInclude)
        /// The service includes itself, directly or by way of others.
        case circularInclude
        /// No service begins at the handle.
        case serviceNotFound(AttributeHandle)
        /// The service at the handle includes this one, which therefore cannot be removed.
        case included(by: AttributeHandle)
    }

    /// A place in the description; numbers count from 0.
    public struct Place: Hashable, Sendable {
        /// The number of the service; nil for the generic services, which the description does not list.
        public var service: Int?
        /// The UUID of the service.
        public var serviceUUID: BluetoothUUID
        /// The number of the characteristic in the service.
        public var characteristic: Int?
        /// The UUID of the characteristic, if the place is in one.
        public var characteristicUUID: BluetoothUUID?
        /// The number of the descriptor in the characteristic.
        public var descriptor: Int?
        /// The UUID of the descriptor, if the place is in one.
        public var descriptorUUID: BluetoothUUID?

        init(service: Int?, _ uuid: BluetoothUUID) {
            self.service = service
            serviceUUID = uuid
        }

        func characteristic(_ number: Int, _ uuid: BluetoothUUID) -> Place {
            var place = self
            place.characteristic = number
            place.characteristicUUID = uuid
            return place
        }

        func descriptor(_ number: Int, _ uuid: BluetoothUUID) -> Place {
            var place = self
            place.descriptor = number
            place.descriptorUUID = uuid
            return place
        }
    }

    /// The place in the description that breaks a rule.
    public let place: Place
    /// The rule that the description violates.
    public let reason: Reason

    init(_ place: Place, _ reason: Reason) {
        self.place = place
        self.reason = reason
    }
}

extension DatabaseError: CustomStringConvertible {
    /// `service 180f, characteristic 2a19: the value has 600 octets, at most 512 are allowed`.
    public var description: String {
        if case .serviceNotFound = reason { return "\(reason)" }
        return "\(place): \(reason)"
    }
}

extension DatabaseError.Place: CustomStringConvertible {
    /// `service 180f, characteristic 2a19, descriptor 2901`.
    public var description: String {
        var text = "service \(serviceUUID)"
        if let characteristicUUID { text += ", characteristic \(characteristicUUID)" }
        if let descriptorUUID { text += ", descriptor \(descriptorUUID)" }
        return text
    }
}

extension DatabaseError.Reason: CustomStringConvertible {
    /// A clause that describes the broken rule.
    public var description: String {
        switch self {
        case .handleNotFree(let handle): "handle \(handle) is taken or out of order"
        case .endHandleTooLow(let end, let last):
            "the service cannot end at \(end), because its last attribute is at \(last)"
        case .outOfHandles: "no handles are left up to 0xffff"
        case .valueTooLong(let octets, let maximum):
            "the value has \(octets) octets, at most \(maximum) are allowed"
        case .valueNotFixed(let octets, let count): "the value has \(octets) octets, not the fixed \(count)"
        case .lengthOutOfRange(let length): "the length \(length) is not within 0 to 512"
        case .keySizeOutOfRange(let size): "the key size \(size) is not within 7 to 16"
        case .propertyNotPermitted(let properties):
            "the properties offer \(properties), the permissions forbid it"
        case .cachedValueChanges(let properties):
            "a cached value is only read, not \(properties): give `.stored(…)`, or no value"
        case .cachedValueHandled: "a cached value has no handlers: give a stored value or none"
        case .repeatedDescriptor(let uuid): "descriptor \(uuid) is given twice"
        case .includeNotFound(.handle(let handle)): "no service to include begins at \(handle)"
        case .includeNotFound(.uuid(let uuid)): "there is no service \(uuid) to include"
        case .serviceNotFound(let handle): "no service begins at \(handle)"
        case .included(let handle): "the service at \(handle) includes it"
        case .circularInclude: "the service includes itself by way of the services it includes"
        }
    }
}
