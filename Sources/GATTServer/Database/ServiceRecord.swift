import ATT
import BLECore

/// The layout of a service in a server, from which the next process can publish it again with the same
/// handles, so that what clients remember of it remains valid.
public struct ServiceRecord: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var handle: AttributeHandle
        package var type: BluetoothUUID
        /// The value of a service or characteristic declaration: UUID, properties, handle. Empty for other
        /// attributes.
        package var declaration: [UInt8]

        package init(handle: AttributeHandle, type: BluetoothUUID, declaration: [UInt8]) {
            self.handle = handle
            self.type = type
            self.declaration = declaration
        }
    }

    /// The declaration of the service, then its other attributes, in ascending order of handles.
    package let entries: [Entry]
    /// The last handle of the service, if it is not that of the last attribute.
    package let end: AttributeHandle?

    /// Creates the record of a service of these attributes, which ends at `end`; nil if they do not begin with its
    /// declaration, or their handles do not ascend.
    package init?(_ entries: [Entry], end: AttributeHandle? = nil) {
        guard let first = entries.first, first.type == .primaryService || first.type == .secondaryService,
            (try? ServiceDeclaration(first.declaration)) != nil, first.handle > .none,
            zip(entries, entries.dropFirst()).allSatisfy({ $0.handle < $1.handle })
        else { return nil }
        self.entries = entries
        self.end = end
    }

    init(_ attributes: some BidirectionalCollection<Attribute>) {
        let end = attributes.first?.groupEnd
        self.end = end == attributes.last?.handle ? nil : end
        entries = attributes.map { attribute in
            let keepsDeclaration = attribute.kind == .declaration && attribute.type != .include
            return Entry(
                handle: attribute.handle, type: attribute.type,
                declaration: keepsDeclaration ? attribute.value : []
            )
        }
    }

    /// The UUID of the service.
    public var uuid: BluetoothUUID { (try? ServiceDeclaration(entries[0].declaration))?.uuid ?? 0x0000 }
    /// The handle of the service's declaration.
    public var handle: AttributeHandle { entries[0].handle }
    /// The last handle of the service.
    public var endHandle: AttributeHandle { end ?? entries.last?.handle ?? handle }

    /// Returns whether a service, as it is described now, has the same layout as this one at the same handle.
    func fits(_ service: GATTService) -> Bool {
        guard service.handle ?? handle == handle, service.uuid == uuid else { return false }
        let place = DatabaseError.Place(service: nil, service.uuid)
        guard let layout = try? ServiceLayout(service, place, at: Int(handle.rawValue)) else { return false }
        return ServiceRecord(layout.attributes) == self
    }
}
