import ATT
import BLECore

/// Permissions and handlers: the one way to a value, whatever the request.
extension GATTResponder {
    /// Where `handle` is, or Invalid Handle.
    func index(of handle: AttributeHandle, _ shared: GATTServer.Shared) throws(Interruption) -> Int {
        guard let index = shared.database.index(of: handle) else { throw .refused(.invalidHandle, handle) }
        return index
    }

    /// Checks that the central may read or write an attribute (Core Specification 5.4, Vol 3, Part F, 3.2.5):
    /// first whether anybody may, then whether this link may, then whether the application agrees.
    func permit(isWrite: Bool, _ index: Int, _ shared: GATTServer.Shared) throws(Interruption) {
        let permissions = shared.database.attributes[index].permissions
        let access = isWrite ? permissions.write : permissions.read
        if access == .open, !permissions.authorize { return }
        let handle = shared.database.attributes[index].handle
        if access == .none { throw .refused(isWrite ? .writeNotPermitted : .readNotPermitted, handle) }
        if let code = security.refusal(of: access, minimumKeySize: permissions.minimumKeySize) {
            throw .refused(code, handle)
        }
        guard permissions.authorize else { return }
        let request = GATTAuthorizationRequest(central: central, handle: handle, isWrite: isWrite)
        guard let authorize = shared.configuration.authorize, authorize(request) else {
            throw .refused(.insufficientAuthorization, handle)
        }
    }

    /// The whole value, if the central may read it. `offset` is only for the handler to know.
    mutating func value(
        _ index: Int, offset: Int = 0, _ shared: inout GATTServer.Shared
    ) throws(Interruption) -> [UInt8] {
        try permit(isWrite: false, index, shared)
        if case .clientConfiguration(let handle, _) = shared.database.attributes[index].kind {
            return (configurations[handle] ?? []).octets
        }
        if shared.database.attributes[index].role == .clientFeatures { return [features.rawValue] }
        guard let onRead = shared.database.attributes[index].onRead else {
            return shared.database.attributes[index].value
        }
        let handle = shared.database.attributes[index].handle
        if offset > 0, let longRead, longRead.handle == handle { return longRead.value }
        let uuid = shared.database.attributes[index].type
        let value = try result(for: handle, &shared) { pending, mtu in
            let request = GATTReadRequest(
                central: pending.central, handle: handle, uuid: uuid, offset: offset, mtu: mtu,
                pending: pending)
            switch try onRead(request) {
            case .value(let value): return value
            case .later: return nil
            }
        }
        guard value.count <= ATTLimits.valueLength else { throw .refused(.unlikelyError, handle) }
        return value
    }

    /// Asks the handler of an attribute to take a write; returns when it does.
    mutating func offer(
        _ write: GATTWrite, to onWrite: WriteHandler, _ kind: GATTWriteKind, _ transaction: [GATTWrite],
        _ shared: inout GATTServer.Shared
    ) throws(Interruption) {
        _ = try result(for: write.handle, &shared) { pending, mtu in
            let request = GATTWriteRequest(
                central: pending.central, write: write, kind: kind, transaction: transaction, mtu: mtu,
                pending: pending)
            return try onWrite(request) == .accept || kind.isCommand ? [] : nil
        }
    }

    /// What the handler of an attribute says, or said when the request was first tried; nil is "later".
    private mutating func result(
        for handle: AttributeHandle, _ shared: inout GATTServer.Shared,
        _ ask: (PendingAnswer, ATTMTU) throws -> [UInt8]?
    ) throws(Interruption) -> [UInt8] {
        if let known = open?.results.first(where: { $0.handle == handle })?.result {
            do { return try known.get() } catch { throw .refused(error, handle) }
        }
        shared.lastPending &+= 1
        let pending = PendingAnswer(central: central, number: shared.lastPending)
        let answer: [UInt8]?
        do {
            answer = try ask(pending, mtu)
        } catch {
            throw .refused(error as? ATTErrorCode ?? .unlikelyError, handle)
        }
        guard let answer else {
            open?.waiting = (pending, handle)
            throw .later
        }
        open?.results.append((handle, .success(answer)))
        return answer
    }
}
