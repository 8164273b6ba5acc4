import ATT
import BLECore

/// Finds the services that a service includes (Core Specification 5.4, Vol 3, Part G, 4.5.1). Include
/// declarations do not contain long UUIDs, so those are read one by one.
package struct FindIncludedServices: GATTProcedure {
    package static let isPreparation = true

    var walk: AttributeWalk
    private var found: [RemoteInclude] = []
    /// The includes without a UUID; the last one is read first.
    private var nameless: [(handle: AttributeHandle, declaration: IncludeDeclaration)] = []
    private let known: [AttributeHandle: BluetoothUUID]

    /// Finds the includes in `range`, a service's handles. Services whose type is in `known`, by the handle
    /// of their declaration, are not read.
    package init(in range: AttributeRange, known: [AttributeHandle: BluetoothUUID] = [:]) {
        walk = AttributeWalk(.values(.include), in: range)
        self.known = known
    }

    /// Returns the next request, or the included services in ascending order of their declarations.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<[RemoteInclude]> {
        if let request = walk.request { return .ask(request) }
        if let last = nameless.last { return .ask(.read(last.declaration.start)) }
        return .done(found.sorted { $0.handle < $1.handle })
    }

    /// Takes include declarations, or the declaration of an included service.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        guard walk.request == nil, let (handle, declaration) = nameless.popLast() else {
            for entry in try walk.receive(response) { try add(entry) }
            return
        }
        switch response {
        case .read(let value):
            do {
                append(handle, declaration, try ServiceDeclaration(value).uuid)
            } catch {
                guard walk.tolerance != .nothing else { throw .misbehaving(.readRequest, .malformed(error)) }
                try walk.note(.malformed(error), at: handle)
            }
        case .error(let error): try walk.refuse(error, at: handle)
        default: throw .misbehaving(.readRequest, .unexpectedResponse(response.opcode))
        }
    }

    private mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        guard let declaration = try walk.declaration(entry, IncludeDeclaration.self) else { return }
        guard declaration.start != .none, declaration.start <= declaration.end else {
            return try walk.note(.badGroup(declaration.start, end: declaration.end), at: entry.handle)
        }
        if let uuid = declaration.uuid.map({ BluetoothUUID($0) }) ?? known[declaration.start] {
            append(entry.handle, declaration, uuid)
        } else {
            nameless.append((entry.handle, declaration))
        }
    }

    private mutating func append(
        _ handle: AttributeHandle, _ declaration: IncludeDeclaration, _ uuid: BluetoothUUID
    ) {
        found.append(
            RemoteInclude(
                handle: handle, uuid: uuid, serviceHandle: declaration.start, endHandle: declaration.end))
    }
}
