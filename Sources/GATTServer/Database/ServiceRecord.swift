import ATT
import BLECore

/// A service as a server had it, for the next process to have it again with the same handles: what clients remember
/// of it stays true.
public struct ServiceRecord: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var handle: AttributeHandle
        package var type: BluetoothUUID
        /// What a declaration of a service or characteristic says: UUID, properties, handle. Of others nothing.
        package var declaration: [UInt8]

        package init(handle: AttributeHandle, type: BluetoothUUID, declaration: [UInt8]) {
            self.handle = handle
            self.type = type
            self.declaration = declaration
        }
    }

    /// The declaration, then the rest of it; handles ascending.
    package let entries: [Entry]

    /// A service of these attributes; nil when they do not begin with its declaration, or their handles do not ascend.
    package init?(_ entries: [Entry]) {
        guard let first = entries.first, first.type == .primaryService || first.type == .secondaryService,
            (try? ServiceDeclaration(first.declaration)) != nil, first.handle > .none,
            zip(entries, entries.dropFirst()).allSatisfy({ $0.handle < $1.handle })
        else { return nil }
        self.entries = entries
    }

    init(_ attributes: some Sequence<Attribute>) {
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
    /// The handle of the service's last attribute.
    public var endHandle: AttributeHandle { entries.last?.handle ?? handle }

    /// Whether a service that is described now is laid out just so where this one was.
    func fits(_ service: GATTService) -> Bool {
        guard service.handle ?? handle == handle, service.uuid == uuid else { return false }
        let place = DatabaseError.Place(service: nil, service.uuid)
        guard let layout = try? ServiceLayout(service, place, at: Int(handle.rawValue)) else { return false }
        return ServiceRecord(layout.attributes) == self
    }
}
