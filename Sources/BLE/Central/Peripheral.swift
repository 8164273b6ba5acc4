import ATT
import BLECore
import GATT
import GATTClient
import HCISocket

/// A remote device that this host is connected to, and its GATT server.
public struct Peripheral: Sendable {
    /// The device: its identity where it was bonded and hid behind another address.
    public let address: DeviceAddress
    let adapter: Adapter
    let user: LinkUser
    /// What is kept of the link for the next process; nil: nothing.
    let request: LinkRequest?
    var link: LinkID { user.link }

    init(_ adapter: Adapter, _ user: LinkUser, _ address: DeviceAddress) {
        self.adapter = adapter
        self.user = user
        self.address = address
        request = nil
    }

    /// The same, of which the next process is to know.
    init(_ peripheral: Peripheral, _ request: LinkRequest) {
        adapter = peripheral.adapter
        user = peripheral.user
        address = peripheral.address
        self.request = request
        request.follow(self)
    }

    /// The largest ATT packet on this link, in octets. Throws when the link has ended, as all that asks about it does.
    public var mtu: Int {
        get async throws(BLEError) { try await adapter.mtu(of: link) }
    }

    /// The longest value that fits one Write Request or Write Command, in octets: the MTU less 3.
    public var maximumWriteLength: Int {
        get async throws(BLEError) { try await mtu - 3 }
    }

    /// Disconnects. Others in this process that have connected to the device keep the link, and one that the
    /// device itself has made as central stays, too. Does nothing when the link is gone. `reason` is what
    /// the peer receives.
    public func disconnect(reason: DisconnectCause = .userTerminated) async {
        await adapter.release(user, reason)
        guard let request else { return }
        request.linkEnded()
        await request.save()
    }

    /// Waits for the link to end, or for this user's `disconnect`; returns why. Of a link that has ended before, too:
    /// the adapter remembers its last 64.
    public func disconnection() async throws(BLEError) -> DisconnectReason {
        try await adapter.disconnection(of: link, for: user)
    }

    /// The whole database of the device: services, included services, characteristics, descriptors.
    ///
    /// What is known already is given at once: what this link has found, or what an earlier one has found
    /// and the server's Database Hash says to be the same still. With `refreshing` it is discovered in any
    /// case. After `BLEError.databaseChanged` this gives the database as it is now. Where the manager is restored, the
    /// database of a bonded device is on the disk then, or this throws `BLEError.bonds`.
    public func discover(refreshing: Bool = false) async throws(BLEError) -> RemoteDatabase {
        let database = try await adapter.discover(on: link, refreshing: refreshing)
        // The next process of a manager that is restored has it, too.
        if request != nil { try await adapter.saveDatabases() }
        return database
    }

    /// The primary services of one type with all that is in them, in a few requests (Core Specification 5.4,
    /// Vol 3, Part G, 4.4.2). Nothing is asked when the whole database is known. Only `discover()` subscribes
    /// to changes of the database.
    public func discover(service uuid: BluetoothUUID) async throws(BLEError) -> [RemoteService] {
        try await adapter.discover(service: uuid, on: link)
    }

    /// Runs a procedure of GATTClient, or one of your own, when those before it are done. Handles in it are
    /// not checked.
    ///
    /// ```swift
    /// let services = try await peripheral.run(DiscoverServices.secondary)
    /// ```
    package func run<Procedure: GATTProcedure>(
        _ procedure: Procedure
    ) async throws(BLEError) -> Procedure.Output {
        try await adapter.run(procedure, on: link)
    }
}

// MARK: - Values

extension Peripheral {
    /// A value, however long it is.
    public func read(_ attribute: some AttributeReference) async throws(BLEError) -> [UInt8] {
        try await read(attribute, from: 0)
    }

    /// A value from `offset` octets on, 0 to 512.
    public func read(
        _ attribute: some AttributeReference, from offset: Int
    ) async throws(BLEError) -> [UInt8] {
        guard offset >= 0 else {
            throw .outOfRange(.readOffset, allowed: 0...ATTLimits.valueLength, value: offset)
        }
        let checked = CheckedHandle(attribute)
        return try await adapter.run(
            ReadLongValue(checked.handle, from: offset), about: [checked], on: link)
    }

    /// A value, however long it is. `raisingSecurity`: whether the link's security may be raised for it, unless the
    /// connection's options forbid that; else what the server refuses stays refused.
    public func read(
        _ attribute: some AttributeReference, raisingSecurity: Bool
    ) async throws(BLEError) -> [UInt8] {
        let checked = CheckedHandle(attribute)
        return try await adapter.run(
            ReadLongValue(checked.handle, from: 0), about: [checked], raising: raisingSecurity, on: link)
    }

    /// The values of all attributes of a type, the least handle first; each is cut at 253 octets, and at 4
    /// less than the MTU (Core Specification 5.4, Vol 3, Part G, 4.8.2). When there are none, the server's
    /// Attribute Not Found is the error.
    public func read(
        allOf uuid: BluetoothUUID, in range: AttributeRange = .all
    ) async throws(BLEError) -> [RemoteValue] {
        try await adapter.run(ReadUsingUUID(uuid, in: range), on: link)
    }

    /// Several values: in one request where the server has Read Multiple Variable, each by itself and whole;
    /// else by Read Multiple, all in a row, since that does not say where one ends. What does not fit the
    /// response is read one by one.
    public func read(_ attributes: [some AttributeReference]) async throws(BLEError) -> MultipleReadResult {
        let handles = attributes.map { CheckedHandle($0) }
        return try await adapter.run(ReadSeveralValues(handles.map(\.handle)), about: handles, on: link)
    }

    /// Writes a value and waits for the answer. A value that does not fit one packet is written in parts,
    /// and takes effect as a whole. At most 512 octets.
    public func write(_ value: [UInt8], to attribute: some AttributeReference) async throws(BLEError) {
        let checked = CheckedHandle(attribute)
        try await adapter.run(WriteCharacteristicValue(checked.handle, value), about: [checked], on: link)
    }

    /// Writes a value in parts of which the device repeats each, so that both know it came whole.
    public func writeReliably(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        try await writeReliably([(attribute, value)])
    }

    /// Writes several values at once, after the device has repeated every part of them: all of them take
    /// effect, or none (Core Specification 5.4, Vol 3, Part G, 4.9.5).
    public func writeReliably<Attribute: AttributeReference>(
        _ values: [(attribute: Attribute, value: [UInt8])]
    ) async throws(BLEError) {
        let writes = values.map { (handle: $0.attribute.valueHandle, value: $0.value) }
        try await adapter.run(
            ReliableWrite(writes), about: values.map { CheckedHandle($0.attribute) }, on: link)
    }

    /// Sends a value without an answer, past requests that wait for theirs. Waits until the link takes it. At
    /// most `maximumWriteLength` octets.
    public func writeWithoutResponse(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        let checked = CheckedHandle(attribute)
        try await adapter.command(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Sends a value without an answer, signed with the key that this side gave the device when they were
    /// bonded, for links that are not encrypted (Core Specification 5.4, Vol 3, Part G, 4.9.2). No `counter`
    /// may be used twice with a key. At most the MTU less 15 octets.
    package func writeSigned(
        _ value: [UInt8], to attribute: some AttributeReference, with key: ATTSigningKey, counter: UInt32
    ) async throws(BLEError) {
        let checked = CheckedHandle(attribute)
        let command = key.sign(checked.handle, value: value, counter: counter)
        try await adapter.command(command, about: [checked], on: link)
    }

    /// The values that a characteristic sends: by notification where it notifies, else by indication, and with
    /// `indications` by indication only. One that has not the property is `BLEError.invalidRequest`. The stream owns the subscription: it begins
    /// before this returns, and ends with the stream. Values that were received earlier, while the
    /// first discovery of the link was under way, come first.
    ///
    /// The link is read however slow the consumer is, so `buffer` says what happens when it falls behind.
    /// `confirming` says when an indication is confirmed. With `completing`, the rest of a value that fills
    /// its packet is read before the consumer has it; a value whose rest cannot be had keeps `mayBeTruncated`.
    ///
    /// ```swift
    /// for try await measured in try await peripheral.values(of: temperature, buffer: .newest(1)) {
    ///     print(measured.value)
    /// }
    /// ```
    public func values(
        of characteristic: RemoteCharacteristic, indications: Bool = false,
        buffer: BufferPolicy = .standard, confirming: IndicationConfirmation = .whenQueued,
        completing: Bool = false
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let options = SubscriptionOptions(
            indications: indications, buffer: buffer, confirmation: confirming, completing: completing)
        if let request { return try await request.values(of: characteristic, options, on: self) }
        return try await adapter.subscribe(to: characteristic, options, on: link)
    }
}

/// Discovery in steps, as Core Bluetooth has it: each asks for no more than it says, and for nothing at all once
/// `discover()` has found everything. To discover everything, `discover()` needs fewer requests.
extension Peripheral {
    /// The primary services, or those of these types, without what is in them (Core Specification 5.4, Vol 3, Part G,
    /// 4.4).
    public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(BLEError) -> [RemoteService] {
        try await adapter.discoverServices(uuids, on: link)
    }

    /// The services that a service includes, or those of these types among them (4.5.1).
    public func discoverIncludedServices(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteInclude] {
        try await adapter.discoverIncludes(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// The characteristics of a service, or those of these types among them (4.6). Their descriptors are there where
    /// the whole database is known; `values(of:)` finds what it needs by itself.
    public func discoverCharacteristics(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteCharacteristic] {
        try await adapter.discoverCharacteristics(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// The descriptors of a characteristic (4.7).
    public func discoverDescriptors(
        for characteristic: RemoteCharacteristic
    ) async throws(BLEError) -> [RemoteDescriptor] {
        try await adapter.discoverDescriptors(of: characteristic, on: link)
    }

    /// What a descriptor says. Octets that its type does not allow are `BLEError.peerMisbehaved`.
    public func value(of descriptor: RemoteDescriptor) async throws(BLEError) -> DescriptorValue {
        let octets = try await read(descriptor)
        do throws(DecodeError) {
            return try DescriptorValue(descriptor.uuid, octets)
        } catch {
            throw .peerMisbehaved(.malformedValue(error))
        }
    }

    /// What changes in the device's services from now on: the handles among which something was added, removed or
    /// changed. After that `discover()` gives the database as it is then, and what was found before is refused, as
    /// `BLEError.databaseChanged`.
    ///
    /// Servers indicate this to a client that has subscribed, which `discover()` does; where it has not run on this link,
    /// this begins it. Of a slow consumer's waiting
    /// changes the oldest of 64 are dropped and counted. Ends with the link.
    public func serviceChanges() -> BoundedStream<ServiceChange> {
        let buffer = StreamBuffer<ServiceChange>(.newest(64))
        adapter.loop.execute { [adapter, link] in
            adapter.assumeIsolated { $0.watchServices(of: link, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}

/// How a value is written, in Core Bluetooth's words.
public enum WriteType: Hashable, Sendable, CaseIterable {
    /// By a request, which the device answers.
    case withResponse
    /// By a command, which has no response.
    case withoutResponse
}

extension Peripheral {
    /// Writes a value in one way or the other, as `write(_:to:)` and `writeWithoutResponse(_:to:)` do.
    public func write(
        _ value: [UInt8], to attribute: some AttributeReference, type: WriteType
    ) async throws(BLEError) {
        switch type {
        case .withResponse: try await write(value, to: attribute)
        case .withoutResponse: try await writeWithoutResponse(value, to: attribute)
        }
    }

    /// The longest value that can be written so, in octets: with a response 512, since what does not fit one packet
    /// goes in parts and takes effect as a whole; without one the MTU less 3.
    public func maximumWriteLength(for type: WriteType) async throws(BLEError) -> Int {
        switch type {
        case .withResponse: ATTLimits.valueLength
        case .withoutResponse: try await maximumWriteLength
        }
    }

    /// Whether the link takes a write without response now: fewer than 64 of them, and of notifications, wait for the
    /// radio, and none waits for that. False as well when the link has ended.
    public var canSendWriteWithoutResponse: Bool {
        get async { await adapter.canSendUnsolicited(on: link) }
    }

    /// Waits until the link takes a write without response; for who has several links to serve, since
    /// `writeWithoutResponse(_:to:)` waits by itself.
    public func readyToSendWriteWithoutResponse() async throws(BLEError) {
        try await adapter.untilCanSendUnsolicited(on: link)
    }

    /// Sends a value without an answer if the link takes it now; false when it does not, and nothing was sent. At most
    /// `maximumWriteLength` octets.
    public func tryWriteWithoutResponse(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) -> Bool {
        let checked = CheckedHandle(attribute)
        return try await adapter.tryCommand(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Waits until every write without response that the link has taken has left this host. On adapters that are ours
    /// alone that is when the controller has reported it as completed, which the device's controller has acknowledged;
    /// on kernel adapters, when the kernel has given it to the controller.
    ///
    /// `disconnect` and the end of `withConnection` wait for this, too.
    ///
    /// - Throws: `BLEError.unsent` with the number of packets that are left when the link has taken none
    ///   for 2 s, or not all within 10 s; also when it ended before they had left. What the kernel held of a
    ///   link that was lost is not known, and not counted.
    public func waitUntilSent() async throws(BLEError) { try await adapter.waitUntilSent(on: link) }

    /// How strong the device's packets arrive, in dBm, -127 to 20; nil when the controller does not know (127).
    public func readRSSI() async throws(BLEError) -> Int? { try await connection.rssi() }
}

extension Adapter {
    fileprivate func waitUntilSent(on id: LinkID) async throws(BLEError) {
        if try await untilSent(on: id) { return }
        guard let left = links[id].map({ unsent(on: $0) }) ?? clients.unsent(on: id) else {
            throw end ?? .disconnected(.unknown)
        }
        if left > 0 { throw .unsent(left) }
    }

    fileprivate func canSendUnsolicited(on id: LinkID) -> Bool { links[id]?.gatt.canSend ?? false }

    fileprivate func untilCanSendUnsolicited(on id: LinkID) async throws(BLEError) {
        try await perform(on: id) { $0.gatt.waitForRoom() }
    }

    fileprivate func tryCommand(
        _ command: ATTCommand, about handles: [CheckedHandle], on id: LinkID
    ) async throws(BLEError) -> Bool {
        try await locate(handles, on: id)
        let link = try linkThatTakes(id)
        do throws(GATTFailure) {
            try link.gatt.session.check(handles)
            guard try link.gatt.trySend(command, about: handles) else { return false }
        } catch {
            throw BLEError(error)
        }
        pump(link)
        return true
    }
}

/// How the parts of something long are written.
public enum ChunkWriting: Sendable {
    /// Each by a command, which has no response, as fast as the link takes them: the controller's buffers are
    /// the credits.
    case withoutResponse
    /// Each by a request, after the answer to the one before.
    case withResponse
    /// By commands, `initial` of them at first; then `more` is awaited whenever the credits are used up, and
    /// says how many may follow, 0 or fewer to be asked again. For devices with a flow control of their own.
    case credits(initial: Int, more: @Sendable () async throws(BLEError) -> Int)
}

/// How far a long write has come.
public struct ChunkProgress: Hashable, Sendable {
    /// The number of octets that have been written.
    public var written: Int
    /// The number of octets of the whole value.
    public var total: Int
}

extension Peripheral {
    /// Writes something of any length as parts of `size` octets, each a write of its own; nil: what fits one
    /// packet, the MTU less 3, which is 20 octets at MTU 23. Commands of more than that are
    /// `BLEError.limit`. `progress` is called after each part. Cancelling the task ends it between two parts.
    ///
    /// ```swift
    /// try await peripheral.write(firmware, to: upload, inPartsOf: 128) { print($0.written, "of", $0.total) }
    /// ```
    /// What the parts mean is an agreement with the device; `ValueReassembler` has the usual ones.
    public func write(
        _ value: [UInt8], to attribute: some AttributeReference, inPartsOf size: Int?,
        _ writing: ChunkWriting = .withoutResponse, progress: @Sendable (ChunkProgress) -> Void = { _ in }
    ) async throws(BLEError) {
        let fitting = try await maximumWriteLength
        var credits: Int?
        if case .credits(let initial, _) = writing { credits = initial }
        var chunks = ValueChunks(value, size: size ?? fitting, credits: credits)
        while !chunks.isDone {
            if Task.isCancelled { throw .cancelled }
            guard let part = chunks.next() else {
                guard case .credits(_, let more) = writing else { return }
                chunks.grant(try await more())
                continue
            }
            if case .withResponse = writing {
                try await write(Array(part), to: attribute)
            } else {
                try await writeWithoutResponse(Array(part), to: attribute)
            }
            progress(ChunkProgress(written: chunks.sent, total: chunks.total))
        }
    }
}
