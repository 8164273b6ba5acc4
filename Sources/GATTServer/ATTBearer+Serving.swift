import ATT
import BLECore

extension ATTBearer {
    /// The next event that is not the server's: requests and commands of `central` are handed to `server`
    /// and answered on the way.
    public mutating func nextEvent(serving central: CentralID, from server: inout GATTServer) -> Event? {
        while let event = nextEvent() {
            switch event {
            case .request(let request): send(server.handle(request, from: central, mtu: mtu))
            case .command(let command): server.handle(command, from: central, mtu: mtu)
            default: return event
            }
        }
        return nil
    }

    /// Sends what `GATTServer.handle` or `complete` gave for this bearer's central. An answer that became too
    /// long, because the MTU sank while a handler took its time, is an Unlikely Error.
    public mutating func send(_ answer: GATTAnswer) {
        guard case .respond(let response) = answer else { return }
        do {
            try respond(response)
        } catch {
            let request = ATTOpcode(response.opcode.rawValue &- 1)
            _ = try? respond(.error(ATTErrorResponse(request, .none, .unlikelyError)))
        }
    }

    /// Sends a value to a subscriber as it asked. A value over the MTU less 3 octets is an error, unless
    /// `truncating` says that its beginning will do. Gives the number of an indication, whose end is an
    /// event.
    @discardableResult
    public mutating func push(
        _ value: [UInt8], of handle: AttributeHandle, to subscriber: GATTSubscriber, truncating: Bool = false
    ) throws(ATTLimitError) -> ATTTransactionID? {
        if subscriber.prefersIndications {
            return try indicate(handle, value: value, truncating: truncating)
        }
        try notify(handle, value: value, truncating: truncating)
        return nil
    }
}
