import BLECore
import HCI
import HCISocket
import Logging

/// Runs the procedures of links, as their `LinkProcedures` decide.
extension Adapter {
    /// Sends the controller a command about a link, and returns the answer.
    func ask<Command: HCICommand>(
        _ id: LinkID, _ command: @Sendable (ConnectionHandle) -> Command
    ) async throws(BLEError) -> Command.ReturnParameters {
        let command = command(try handle(of: id))
        do throws(BLEError) {
            return try await send(command)
        } catch .hci(.unknownConnectionIdentifier, _) where links[id] == nil {
            // The link ended while the command was on its way.
            throw clients.end(of: id) ?? .disconnected(.unknown)
        } catch {
            throw error
        }
    }

    /// Starts a procedure with the peer's controller by a command, once the procedures before it have ended,
    /// and waits for the event that ends it.
    func run<Command: HCICommand>(
        _ procedure: LinkProcedure, on id: LinkID,
        _ command: @Sendable (ConnectionHandle) -> Command
    ) async throws(BLEError) {
        let command = MachineCommand(command(try handle(of: id)))
        try await run(procedure, by: .command(command), on: id)
    }

    /// Runs a procedure when its turn has come.
    func run(
        _ procedure: LinkProcedure, by start: LinkProcedures.Start, on id: LinkID
    ) async throws(BLEError) {
        try await waits.wait(in: self) { () throws(BLEError) in
            let link = try link(id)
            let number = nextNumber()
            link.procedures.ask(number, for: procedure, by: start)
            return .pending(.procedure(id, number: number))
        } then: {
            if let link = links[id] { proceed(with: link) }
        }
    }

    /// Waits until no procedure of this kind is under way.
    func settle(_ procedure: LinkProcedure, on id: LinkID) async throws(BLEError) {
        try await run(procedure, by: .nothing, on: id)
    }

    /// Requests the connection update with the parameters that a peripheral asked for and that were accepted.
    func updateAsAccepted(_ wanted: LEConnectionParameters, to link: Link) {
        guard let handle = link.handle else { return }
        let command = MachineCommand(LEConnectionUpdate(connection: handle, parameters: wanted))
        link.procedures.updateAsAccepted(nextNumber(), by: .command(command))
        proceed(with: link)
    }

    /// Handles the events of a link's procedures, unless the link has ended.
    func proceed(with link: Link) {
        while links[link.id] != nil, let event = link.procedures.nextEvent(at: loop.now) {
            switch event {
            case .begin(let number, let procedure, let start):
                do throws(BLEError) {
                    guard try !begin(number, procedure, by: start, on: link) else { continue }
                    // There is nothing to do.
                    link.procedures.ended(procedure, .success(()), ifItIs: number)
                } catch {
                    link.procedures.ended(procedure, .failure(error), ifItIs: number)
                }
            case .ended(let number, let result):
                waits.end(.procedure(link.id, number: number), result)
            case .acceptedUpdateFailed(let error):
                log.info("the accepted connection parameters of a peer could not be set: \(error)")
            case .pairingNotEncrypted(let error):
                log.warning("cannot encrypt the link to \(link.peer): \(error)")
                link.pairing.encryptionChanged(isOn: false, at: loop.now)
                drain(link)
                pump(link)
            }
        }
        wake(by: link.procedures.deadline)
    }

    /// Starts a procedure. Returns false when there is nothing left to do.
    private func begin(
        _ number: UInt64, _ procedure: LinkProcedure, by start: LinkProcedures.Start, on link: Link
    ) throws(BLEError) -> Bool {
        switch start {
        case .command(let command):
            switch procedure {
            case .version where link.remoteVersion != nil: return false
            case .features where link.remoteFeatures != nil: return false
            default: try submit(command, number, of: link)
            }
        case .request(let parameters):
            if link.radio.timing.map({ parameters.admit($0) }) == true { return false }
            try sendRequest(parameters, on: link)
        case .encryption(let key, let given):
            let command = LEEnableEncryption(
                connection: try handle(of: link.id), random: key.random, diversifier: key.ediv, key: key.value
            )
            // A pairing may have failed while the procedure waited for the encryption before it, and another may
            // have begun.
            guard link.protection.give(key, of: given) else { return false }
            try submit(MachineCommand(command), number, of: link)
        case .nothing: return false
        }
        return true
    }

    private func submit(_ command: MachineCommand, _ number: UInt64, of link: Link) throws(BLEError) {
        if let end { throw end }
        // The link may have ended meanwhile, and its handle may now be that of another link.
        _ = try handle(of: link.id)
        if recovery.isUnderWay {
            throw .hci(.operationCancelledByHost, command: command.packet.opcode)
        }
        submit(command, of: .procedure(link.id, number))
    }

    /// Handles the answer to the command that starts a procedure. A refusal ends the procedure.
    func procedureAnswered(
        _ answer: CommandAnswer, to command: MachineCommand, _ number: UInt64, of id: LinkID
    ) {
        guard let link = links[id] else { return }
        if case .done = answer, command.packet.opcode == LEEnableEncryption.opcode,
            link.protection.isPairingKeyGiven
        {
            link.pairing.keyWasGiven()
        }
        link.procedures.answered(answer, to: command, of: number)
        proceed(with: link)
    }

    /// Handles the end of a procedure, whichever side started it.
    func end(_ procedure: LinkProcedure, on id: LinkID, _ result: Result<Void, BLEError>) {
        guard let link = links[id] else { return }
        link.procedures.ended(procedure, result)
        proceed(with: link)
    }

    /// Handles the event that ends a procedure on the link with this handle.
    func end(
        _ procedure: LinkProcedure, on handle: ConnectionHandle, _ status: HCIStatus, of command: HCIOpcode
    ) {
        guard let link = links[handle] else { return }
        end(
            procedure, on: link.id,
            status == .success ? .success(()) : .failure(.hci(status, command: command)))
    }

    /// Returns the connection handle of a link.
    func handle(of id: LinkID) throws(BLEError) -> ConnectionHandle {
        guard let handle = try link(id).handle else {
            throw .adapter(.unsupported(.linkCommands))
        }
        return handle
    }
}
