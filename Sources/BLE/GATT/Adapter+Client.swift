import ATT
import BLECore
import GATT
import GATTClient
import HCISocket
import Logging

/// Names a request or an indication of ours on one link.
struct TransactionKey: Hashable, Sendable {
    let link: LinkID
    let id: ATTTransactionID
}

/// A handle that is to be used, and the state of the database that it is of.
struct CheckedHandle: Sendable {
    let handle: AttributeHandle
    let generation: DatabaseGeneration

    init(_ reference: some AttributeReference) {
        handle = reference.valueHandle
        generation = reference.generation
    }

    init(_ handle: AttributeHandle, _ generation: DatabaseGeneration) {
        (self.handle, self.generation) = (handle, generation)
    }
}

extension Adapter {
    /// Runs a procedure on a link. Procedures of one link run one after the other, in order; commands do
    /// not wait for them. `handles` are checked before every request, since the database may change at any
    /// time. `raising` says whether the link's security may be raised for it.
    func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle] = [], raising: Bool = true, on id: LinkID
    ) async throws(BLEError) -> Procedure.Output {
        try await locate(handles, on: id)
        let link = try link(id)
        try await link.procedures.enter(self, of: id, at: \.procedures)
        defer { link.procedures.leave() }
        return try await perform(procedure, about: handles, raising: raising, on: link)
    }

    /// Runs a procedure whose turn has come; once more after the security that the server wanted is there.
    func perform<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle], raising: Bool, on link: Link
    ) async throws(BLEError) -> Procedure.Output {
        do throws(BLEError) {
            return try await converse(procedure, about: handles, on: link)
        } catch .att(let refusal) where raising {
            guard try await raiseSecurity(of: link, for: refusal.code) else { throw .att(refusal) }
        }
        return try await converse(procedure, about: handles, on: link)
    }

    private func converse<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle], on link: Link
    ) async throws(BLEError) -> Procedure.Output {
        var procedure = procedure
        var hasAsked = false
        do throws(BLEError) {
            while true {
                switch try step(&procedure, link.gatt.mtu) {
                case .done(let output): return output
                case .ask(let request):
                    try check(handles, on: link)
                    hasAsked = true
                    let response = try await transact(request, on: link.id)
                    try accept(response, for: &procedure)
                }
            }
        } catch {
            if hasAsked, let undo = procedure.undo { forget(undo, on: link) }
            guard case .att(let refusal) = error, refusal.code == .databaseOutOfSync else { throw error }
            noteChange(.all, of: link)
            // Whoever uses bare handles is told what the server said.
            try check(handles, on: link)
            throw error
        }
    }

    /// Sends what makes the server forget a procedure that was given up, like queued writes. It goes before
    /// anything else that waits for its turn, and its answer is nobody's.
    private func forget(_ undo: ATTRequest, on link: Link) {
        guard links[link.id] != nil else { return }
        do throws(ATTLimitError) {
            _ = try link.gatt.request(undo)
            pumpSoon(link)
        } catch {
            log.debug("cannot undo: \(error)")
        }
    }

    /// Throws when a handle is of a state of the database that is gone.
    func check(_ handles: [CheckedHandle], on link: Link) throws(BLEError) {
        for each in handles where !link.gatt.session.isCurrent(each.generation) {
            throw .databaseChanged(each.handle)
        }
    }

    private func step<Procedure: GATTProcedure>(
        _ procedure: inout Procedure, _ mtu: ATTMTU
    ) throws(BLEError) -> GATTStep<Procedure.Output> {
        do throws(GATTClientError) {
            return try procedure.next(mtu: mtu.octets)
        } catch {
            throw BLEError(error)
        }
    }

    private func accept(_ response: ATTResponse, for procedure: inout some GATTProcedure) throws(BLEError) {
        do throws(GATTClientError) {
            try procedure.receive(response)
        } catch {
            throw BLEError(error)
        }
    }

    /// Sends one request and waits for its response, an Error Response among them.
    func transact(_ request: ATTRequest, on id: LinkID) async throws(BLEError) -> ATTResponse {
        try await transactions.wait(in: self) { adapter, key in
            if let link = adapter.links[id] {
                link.gatt.cancel(key.id)
                adapter.pumpSoon(link)
            }
            adapter.transactions.resume(key, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            let link = try link(id)
            do throws(ATTLimitError) {
                let transaction = try link.gatt.request(request)
                pumpSoon(link)
                return TransactionKey(link: id, id: transaction)
            } catch {
                throw BLEError(error)
            }
        }
    }

    /// Offers our MTU to the peer, once a link. A server may refuse it; the link then stays at 23 octets.
    func exchangeMTU(on id: LinkID) async throws(BLEError) {
        let mtu = try link(id).gatt.configuration.receiveMTU
        guard mtu > .default else { return }
        _ = try await transact(.exchangeMTU(mtu.wire), on: id)
    }

    /// The MTU of a link.
    func mtu(of id: LinkID) throws(BLEError) -> Int { try link(id).gatt.mtu.octets }

    /// Sends a command; waits while the link has no room for it.
    func command(
        _ command: ATTCommand, about handles: [CheckedHandle] = [], on id: LinkID
    ) async throws(BLEError) {
        try await locate(handles, on: id)
        while true {
            let link = try linkThatTakes(id)
            try check(handles, on: link)
            do throws(ATTLimitError) {
                try link.gatt.send(command)
                return pump(link)
            } catch  where error.limit == .pushes {
                try await link.room.wait(in: self, of: id, waitsToSend)
            } catch {
                throw BLEError(error)
            }
        }
    }

    /// Has it told when a link takes a command; false when it does now.
    func waitsToSend(_ link: Link) -> Bool {
        guard !link.gatt.canSend else { return false }
        link.gatt.tellWhenReady()
        return true
    }
}
