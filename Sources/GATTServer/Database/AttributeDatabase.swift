import ATT
import BLECore

/// A server's attributes in the order of their handles (Core Specification 5.4, Vol 3, Part F, 3.2). Handles
/// may have gaps; finding one takes O(1) where there are none before it, else O(log n).
package struct AttributeDatabase: Sendable {
    /// All attributes, handles ascending.
    package internal(set) var attributes: [Attribute]
    /// The greatest handle that an attribute ever had.
    var highest = AttributeHandle.none

    /// Where in `attributes` the one with `handle` is.
    package func index(of handle: AttributeHandle) -> Int? {
        let index = index(atOrAfter: handle)
        return index < attributes.count && attributes[index].handle == handle ? index : nil
    }

    /// Where in `attributes` the first one with `handle` or a greater handle is; the end when there is none.
    package func index(atOrAfter handle: AttributeHandle) -> Int {
        let dense = Int(handle.rawValue) - 1
        if dense >= 0, dense < attributes.count, attributes[dense].handle == handle { return dense }
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The attribute with `handle`.
    package subscript(handle: AttributeHandle) -> Attribute? { index(of: handle).map { attributes[$0] } }

    /// Where clients subscribe to the characteristic with this value handle; nil when they cannot.
    func configuration(of value: AttributeHandle) -> Attribute? {
        guard let index = index(of: value) else { return nil }
        return attributes[index...].dropFirst().prefix { $0.kind != .declaration }.first {
            if case .clientConfiguration(value, _) = $0.kind { true } else { false }
        }
    }

    /// The value handle of the first characteristic `uuid`, in the first service `service` where that is
    /// given.
    package func valueHandle(of uuid: BluetoothUUID, in service: BluetoothUUID? = nil) -> AttributeHandle? {
        var range = AttributeRange.all
        if let service {
            let declared = ServiceDeclaration(service).encoded
            let found = attributes.first { $0.isService && $0.value == declared }
            guard let found else { return nil }
            range = AttributeRange(found.handle, found.groupEnd)
        }
        return attributes.first {
            guard case .value = $0.kind else { return false }
            return $0.type == uuid && range.contains($0.handle)
        }?.handle
    }
}

extension Attribute {
    /// Whether it declares a service.
    package var isService: Bool {
        kind == .declaration && (type == .primaryService || type == .secondaryService)
    }
}
