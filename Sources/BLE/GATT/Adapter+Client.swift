import ATT
import BLECore
import GATTClient
import HCISocket
import Logging

/// Names a request or an indication of ours on one link.
struct TransactionKey: Hashable, Sendable {
    let link: LinkID
    let id: ATTTransactionID
}

extension Adapter {
    /// Runs a procedure on a link. Procedures of one link run one after the other, in order; commands do
    /// not wait for them.
    func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, on id: LinkID
    ) async throws(BLEError) -> Procedure.Output {
        let link = try link(id)
        try await link.procedures.enter(self, of: id)
        defer { link.procedures.leave() }
        var procedure = procedure
        do throws(BLEError) {
            while true {
                switch try step(&procedure, link.bearer.mtu) {
                case .done(let output): return output
                case .ask(let request):
                    let response = try await transact(request, on: id)
                    try accept(response, for: &procedure)
                }
            }
        } catch {
            // What the procedure leaves behind at the server, like queued writes, must not stay there.
            if let undo = procedure.undo {
                Task(executorPreference: loop) { _ = try? await self.transact(undo, on: id) }
            }
            throw error
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
            adapter.links[id]?.bearer.cancel(key.id, at: adapter.loop.now)
            adapter.transactions.resume(key, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            let link = try link(id)
            do throws(ATTLimitError) {
                let transaction = try link.bearer.send(request, at: loop.now)
                pumpSoon(link)
                return TransactionKey(link: id, id: transaction)
            } catch {
                throw BLEError(error)
            }
        }
    }

    /// Offers our MTU to the peer, once a link. A server may refuse it; the link then stays at 23 octets.
    func exchangeMTU(on id: LinkID) async throws(BLEError) {
        let mtu = try link(id).bearer.configuration.receiveMTU
        guard mtu > .default else { return }
        _ = try await transact(.exchangeMTU(mtu.wire), on: id)
    }

    /// The MTU of a link.
    func mtu(of id: LinkID) throws(BLEError) -> Int { try link(id).bearer.mtu.octets }

    /// Sends a command; waits while the link has no room for it.
    func command(_ command: ATTCommand, on id: LinkID) async throws(BLEError) {
        while true {
            let link = try link(id)
            do throws(ATTLimitError) {
                try link.bearer.send(command)
                return pump(link)
            } catch  where error.limit == .pushes {
                try await link.room.wait(in: self, of: id)
            } catch {
                throw BLEError(error)
            }
        }
    }
}

// MARK: - Subscriptions

extension Adapter {
    /// Switches notifications or indications on and gives their stream. The stream is there first, so that
    /// none is missed.
    func subscribe(
        to characteristic: RemoteCharacteristic, indications: Bool, _ policy: BufferPolicy, on id: LinkID
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let link = try link(id)
        let needed: CharacteristicProperties = indications ? .indicate : .notify
        guard characteristic.properties.contains(needed) else {
            throw .invalidRequest(
                "characteristic \(characteristic.uuid) does not \(indications ? "indicate" : "notify")")
        }
        guard let configuration = characteristic.descriptor(.clientCharacteristicConfiguration)?.handle else {
            throw .peer("characteristic \(characteristic.uuid) has no Client Characteristic Configuration")
        }
        let handle = characteristic.valueHandle
        let buffer = StreamBuffer<ReceivedValue>(policy)
        let key = link.add(buffer, for: handle)
        buffer.onEnd { [loop, weak self] in
            loop.execute { [weak self] in
                self?.assumeIsolated { $0.unsubscribe(key, handle, configuration, on: id) }
            }
        }
        do throws(BLEError) {
            try await run(WriteValue(configuration, indications ? [2, 0] : [1, 0]), on: id)
        } catch {
            buffer.finish(.failure(error))
            throw error
        }
        return BoundedStream(buffer)
    }

    private func unsubscribe(
        _ key: UInt64, _ handle: AttributeHandle, _ configuration: AttributeHandle, on id: LinkID
    ) {
        guard let link = links[id], link.remove(key, for: handle) else { return }
        Task(executorPreference: loop) {
            do throws(BLEError) {
                _ = try await self.run(WriteValue(configuration, [0, 0]), on: id)
            } catch {
                self.log.debug("switching notifications off: \(error)")
            }
        }
    }

    /// A notification or indication came. Indications are confirmed when they are queued.
    func deliver(_ push: ATTPush, on link: Link) {
        let now = loop.now
        switch push {
        case .notification(let handle, let value):
            link.yield(ReceivedValue(handle: handle, value: value, isIndication: false, received: now))
        case .indication(let handle, let value):
            link.yield(ReceivedValue(handle: handle, value: value, isIndication: true, received: now))
            link.bearer.confirm()
        case .multipleNotification(let values):
            for value in values {
                link.yield(
                    ReceivedValue(
                        handle: value.handle, value: Array(value.value), isIndication: false, received: now))
            }
        }
    }
}

extension BLEError {
    /// What a client procedure's failure is.
    init(_ error: GATTClientError) {
        switch error {
        case .att(let response): self = .att(response)
        case .limit(let name, let limit, let value): self = .limit(name, limit: limit, value: value)
        default: self = .peer("\(error)")
        }
    }

    /// The limit that a link's room is about.
    static let waitingPushes = "the number of commands and notifications that wait on one link"

    /// Something of ours that a bearer does not take.
    init(_ error: ATTLimitError) {
        let name =
            switch error.limit {
            case .pdu(let opcode): "the length of \(opcode) at this MTU"
            case .requests: "the number of requests that wait on one link"
            case .pushes: Self.waitingPushes
            case .indications: "the number of indications that wait on one link"
            }
        self = .limit(name, limit: error.maximum, value: error.value)
    }

    /// Why a transaction got no answer.
    init(_ error: ATTTransactionError) {
        switch error {
        case .closed(.transactionTimeout):
            self = .timedOut("the peer's answer", after: ATTLimits.transactionTimeout)
        case .closed(.disconnected): self = .disconnected(.unknown)
        case .unexpectedResponse, .malformedResponse: self = .peer("\(error)")
        }
    }
}
