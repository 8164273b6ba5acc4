import ATT
import BLECore

/// Write Request, Write Command, Prepare and Execute Write (Core Specification 5.4, Vol 3, Part F, 3.4.5 and
/// 3.4.6).
extension GATTResponder {
    /// Writes a value that came in one PDU.
    mutating func write(
        _ handle: AttributeHandle, _ value: [UInt8], _ kind: GATTWriteKind, _ shared: inout GATTServer.Shared
    ) throws(Interruption) {
        let index = try writableIndex(of: handle, kind, shared)
        let whole = try shared.database.attributes[index].replacing(value)
        try perform(CollectionOfOne(whole), kind, &shared)
    }

    /// Does what a command says; nobody hears why when it may not.
    mutating func perform(_ command: ATTCommand, mtu: ATTMTU, _ shared: inout GATTServer.Shared) {
        self.mtu = mtu
        do throws(Interruption) {
            if case .signedWrite = command {
                try verify(command, &shared)
            }
            guard awareness.isAware || !features.contains(.robustCaching) else {
                throw .refused(.databaseOutOfSync, command.handle)
            }
            let kind: GATTWriteKind = command.opcode.isSigned ? .signed : .command
            // A request may be open at the same time; what its handlers said is not about this write.
            let open = self.open
            self.open = nil
            defer { self.open = open }
            try write(command.handle, command.value, kind, &shared)
        } catch {
            shared.refusedCommands += 1
        }
    }

    /// Checks a signature, and that its counter is new (Part H, 2.4.5).
    private mutating func verify(
        _ command: ATTCommand, _ shared: inout GATTServer.Shared
    ) throws(Interruption) {
        guard case .signedWrite(_, _, let signature) = command, let signingKey,
            signature.counter >= nextSignCounter, signature.counter < .max, signingKey.verifies(command)
        else { throw .refused(.insufficientAuthentication, command.handle) }
        nextSignCounter = signature.counter + 1
        shared.events.append(.signed(central: central, nextCounter: nextSignCounter))
    }

    /// Queues a part. Its offset and length are checked when it is executed (3.4.6.1).
    mutating func prepare(_ part: PreparedWrite, _ shared: inout GATTServer.Shared) throws(Interruption) {
        _ = try writableIndex(of: part.handle, .prepared, shared)
        guard prepared.append(part, limit: shared.configuration.prepareQueueLimit) else {
            throw .refused(.prepareQueueFull, part.handle)
        }
    }

    /// Writes all that is queued, or nothing; the queue is empty afterwards, unless a handler wants time.
    mutating func execute(_ shared: inout GATTServer.Shared) throws(Interruption) {
        do throws(Interruption) {
            // The code is that of version 6.1 on, which has a rule for this (3.4.6.3).
            if let broken = prepared.broken { throw .refused(.databaseOutOfSync, broken) }
            var writes: [GATTWrite] = []
            for handle in prepared.handles {
                let index = try writableIndex(of: handle, .prepared, shared)
                let parts = prepared.parts.filter { $0.handle == handle }
                writes.append(try shared.database.attributes[index].applying(parts))
            }
            try perform(writes, .prepared, &shared)
        } catch {
            if case .refused = error { prepared.removeAll() }
            throw error
        }
        prepared.removeAll()
    }

    /// Offers writes to their handlers, and stores all of them once all are accepted.
    private mutating func perform(
        _ writes: some Collection<GATTWrite>, _ kind: GATTWriteKind, _ shared: inout GATTServer.Shared
    ) throws(Interruption) {
        for write in writes {
            let index = try index(of: write.handle, shared)
            if case .clientConfiguration(_, let properties) = shared.database.attributes[index].kind {
                _ = try write.configuration(properties)
            }
            if shared.database.attributes[index].role == .clientFeatures {
                _ = try write.features(beside: features)
            }
            if let onWrite = shared.database.attributes[index].onWrite {
                try offer(write, to: onWrite, kind, Array(writes), &shared)
            }
        }
        for write in writes {
            let index = try index(of: write.handle, shared)
            if case .clientConfiguration(let handle, let properties) = shared.database.attributes[index].kind
            {
                configure(handle, try write.configuration(properties), &shared)
            } else if shared.database.attributes[index].role == .clientFeatures {
                features = try write.features(beside: features)
            } else {
                shared.database.attributes[index].value = write.value
                shared.events.append(.write(central: central, write, kind: kind))
            }
        }
    }

    /// Where an attribute is that the central may write in this way.
    private func writableIndex(
        of handle: AttributeHandle, _ kind: GATTWriteKind, _ shared: GATTServer.Shared
    ) throws(Interruption) -> Int {
        let index = try index(of: handle, shared)
        try permit(isWrite: true, index, shared)
        if case .value(let properties) = shared.database.attributes[index].kind, !properties.offer(kind) {
            throw .refused(.writeNotPermitted, handle)
        }
        return index
    }
}

extension CharacteristicProperties {
    /// Whether a value may be written in this way. Where permissions alone open it to writing, any way will
    /// do.
    fileprivate func offer(_ kind: GATTWriteKind) -> Bool {
        if isDisjoint(with: .anyWrite) { return true }
        return switch kind {
        case .request, .prepared: contains(.write)
        case .command: contains(.writeWithoutResponse)
        case .signed: contains(.authenticatedSignedWrites)
        }
    }
}

extension GATTWrite {
    /// The features that a client writes: bits that are set stay so, and the reserved ones are ignored
    /// (Part G, 7.2).
    fileprivate func features(
        beside now: ClientSupportedFeatures
    ) throws(GATTResponder.Interruption) -> ClientSupportedFeatures {
        guard let first = value.first else { throw .refused(.invalidAttributeValueLength, handle) }
        let known: ClientSupportedFeatures = [.robustCaching, .enhancedBearer, .multipleNotifications]
        let features = ClientSupportedFeatures(rawValue: first).intersection(known)
        guard now.isSubset(of: features) else { throw .refused(.valueNotAllowed, handle) }
        return features
    }

    /// The configuration that is written to a CCCD of a characteristic with `properties`; bits that the
    /// characteristic lacks are improper (Core Specification Supplement, Part B, 1.2), bits that are reserved
    /// are ignored (Vol 1, Part E, 2.1).
    fileprivate func configuration(
        _ properties: CharacteristicProperties
    ) throws(GATTResponder.Interruption) -> ClientCharacteristicConfiguration {
        guard value.count == 2 else { throw .refused(.invalidAttributeValueLength, handle) }
        let bits = ClientCharacteristicConfiguration(rawValue: UInt16(value[0])).intersection([
            .notify, .indicate,
        ])
        guard bits.isSubset(of: ClientCharacteristicConfiguration(allowedBy: properties)) else {
            throw .refused(.clientCharacteristicConfigurationImproper, handle)
        }
        return bits
    }
}
