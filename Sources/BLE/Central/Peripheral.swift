import ATT
import BLECore
import GATT
import GATTClient
import HCISocket

/// A remote device that this host is connected to, and its GATT server.
public struct Peripheral: Sendable {
    /// The address of the device; its identity address if it was bonded and used a private address.
    public let address: DeviceAddress
    let adapter: Adapter
    let user: LinkUser
    /// The request for the link that the next process can restore; nil without restoration.
    let request: LinkRequest?
    var link: LinkID { user.link }

    init(_ adapter: Adapter, _ user: LinkUser, _ address: DeviceAddress) {
        self.adapter = adapter
        self.user = user
        self.address = address
        request = nil
    }

    /// Creates the same peripheral with a request that the next process can restore.
    init(_ peripheral: Peripheral, _ request: LinkRequest) {
        adapter = peripheral.adapter
        user = peripheral.user
        address = peripheral.address
        self.request = request
        request.follow(self)
    }

    /// The largest ATT packet on this link, in octets. Throws when the link has ended.
    public var mtu: Int {
        get async throws(BLEError) { try await adapter.mtu(of: link) }
    }

    /// The longest value that fits one Write Request or Write Command, in octets: the MTU less 3.
    public var maximumWriteLength: Int {
        get async throws(BLEError) { try await mtu - 3 }
    }

    /// Disconnects this caller from the device. The link ends unless other callers in this process use it; a
    /// link that the device itself established as central stays, too. Does nothing when the link has ended.
    /// `reason` is the error code that the peer receives.
    public func disconnect(reason: DisconnectCause = .userTerminated) async {
        await adapter.release(user, reason)
        guard let request else { return }
        request.linkEnded()
        await request.save()
    }

    /// Waits until the link has ended, or until `disconnect` of this `Peripheral`, and returns the reason. Also
    /// returns the reason of a link that has ended before: the adapter remembers the last 64.
    public func disconnection() async throws(BLEError) -> DisconnectReason {
        try await adapter.disconnection(of: link, for: user)
    }

    /// Discovers the whole database of the device: services, included services, characteristics, descriptors.
    ///
    /// A database that is already known is returned at once: one found on this link, or on an earlier link if the
    /// server's Database Hash shows that it has not changed. With `refreshing` the database is discovered in any
    /// case. After `BLEError.databaseChanged` the call returns the new database. With a manager that restores its
    /// state, the database of a bonded device is on the disk when the call returns; throws `BLEError.bonds` when
    /// it cannot be written.
    public func discover(refreshing: Bool = false) async throws(BLEError) -> RemoteDatabase {
        let database = try await adapter.discover(on: link, refreshing: refreshing)
        // With a manager that restores its state, the next process uses the database, too.
        if request != nil { try await adapter.saveDatabases() }
        return database
    }

    /// Discovers the primary services with the type `uuid` and everything in them, in a few requests (Core
    /// Specification 5.4, Vol 3, Part G, 4.4.2). Sends no request when the whole database is known. Only
    /// `discover()` subscribes to changes of the database.
    public func discover(service uuid: BluetoothUUID) async throws(BLEError) -> [RemoteService] {
        try await adapter.discover(service: uuid, on: link)
    }

    /// Runs a procedure of GATTClient, or a custom one, when the earlier ones are done. Handles in it are not
    /// checked.
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
    /// Reads a value of any length.
    public func read(_ attribute: some AttributeReference) async throws(BLEError) -> [UInt8] {
        try await read(attribute, from: 0)
    }

    /// Reads a value from `offset` on, 0 to 512 octets into it.
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

    /// Reads a value from `offset` on, also one that is longer than the specification permits: as many octets as are
    /// needed to have more than `cut` octets of the value.
    package func read(
        _ attribute: some AttributeReference, from offset: Int, cutAfter cut: Int
    ) async throws(BLEError) -> [UInt8] {
        let checked = CheckedHandle(attribute)
        return try await adapter.run(
            ReadLongValue(checked.handle, from: offset, cutAfter: cut), about: [checked], on: link)
    }

    /// Reads a value of any length. With `raisingSecurity` false, the security of the link is not raised when the
    /// server refuses the request, and the refusal is thrown. With true, the options of the connection decide.
    public func read(
        _ attribute: some AttributeReference, raisingSecurity: Bool
    ) async throws(BLEError) -> [UInt8] {
        let checked = CheckedHandle(attribute)
        return try await adapter.run(
            ReadLongValue(checked.handle, from: 0), about: [checked], raising: raisingSecurity, on: link)
    }

    /// Reads the values of all attributes with the type `uuid`, in ascending order of handles. Each is cut at 253
    /// octets, and at the MTU less 4 octets (Core Specification 5.4, Vol 3, Part G, 4.8.2). Throws the server's
    /// Attribute Not Found when there are none.
    public func read(
        allOf uuid: BluetoothUUID, in range: AttributeRange = .all
    ) async throws(BLEError) -> [RemoteValue] {
        try await adapter.run(ReadUsingUUID(uuid, in: range), on: link)
    }

    /// Reads several values. If the server supports Read Multiple Variable, one request returns them
    /// separately and whole. Otherwise Read Multiple returns them joined, because its response does not show
    /// where one value ends. Values that do not fit the response are read one by one.
    public func read(_ attributes: [some AttributeReference]) async throws(BLEError) -> MultipleReadResult {
        let handles = attributes.map { CheckedHandle($0) }
        return try await adapter.run(ReadSeveralValues(handles.map(\.handle)), about: handles, on: link)
    }

    /// Writes a value and waits for the response. A value that does not fit one packet is written in parts,
    /// and takes effect as a whole. At most 512 octets.
    public func write(_ value: [UInt8], to attribute: some AttributeReference) async throws(BLEError) {
        let checked = CheckedHandle(attribute)
        try await adapter.run(WriteCharacteristicValue(checked.handle, value), about: [checked], on: link)
    }

    /// Writes a value in parts. The device repeats each part, and the value takes effect only if it was received
    /// correctly.
    public func writeReliably(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        try await writeReliably([(attribute, value)])
    }

    /// Writes several values together. The device repeats every part of them; then all of them take effect, or
    /// none (Core Specification 5.4, Vol 3, Part G, 4.9.5).
    public func writeReliably<Attribute: AttributeReference>(
        _ values: [(attribute: Attribute, value: [UInt8])]
    ) async throws(BLEError) {
        let writes = values.map { (handle: $0.attribute.valueHandle, value: $0.value) }
        try await adapter.run(
            ReliableWrite(writes), about: values.map { CheckedHandle($0.attribute) }, on: link)
    }

    /// Writes a value without a response. The write does not wait for requests that are under way, only until the
    /// link has room for it. At most `maximumWriteLength` octets. Throws `BLEError.invalidRequest` for a
    /// characteristic without `CharacteristicProperties.writeWithoutResponse`, whose server would drop the value.
    public func writeWithoutResponse(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        let checked = try commandTarget(attribute)
        try await adapter.command(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Writes a value without a response to a characteristic that accepts signed writes, on a link that is encrypted, where
    /// a signature is of no use (Core Specification 5.4, Vol 3, Part C, 10.4.1).
    func writeInPlaceOfSigned(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        let checked = try commandTarget(
            attribute, offering: [.writeWithoutResponse, .authenticatedSignedWrites])
        try await adapter.command(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Returns the handle for a command. Throws if the characteristic is known to have none of these properties.
    private func commandTarget(
        _ attribute: some AttributeReference,
        offering properties: CharacteristicProperties = .writeWithoutResponse
    ) throws(BLEError) -> CheckedHandle {
        guard attribute.declaredProperties.map({ !$0.isDisjoint(with: properties) }) ?? true else {
            throw .invalidRequest(.noWriteWithoutResponse(attribute.valueHandle))
        }
        return CheckedHandle(attribute)
    }

    /// Writes a value without a response, signed with the key that this host distributed to the device during
    /// bonding, for links that are not encrypted (Core Specification 5.4, Vol 3, Part G, 4.9.2). A `counter`
    /// must not be used twice with the same key. At most the MTU less 15 octets.
    package func writeSigned(
        _ value: [UInt8], to attribute: some AttributeReference, with key: ATTSigningKey, counter: UInt32
    ) async throws(BLEError) {
        let checked = CheckedHandle(attribute)
        let command = key.sign(checked.handle, value: value, counter: counter)
        try await adapter.command(command, about: [checked], on: link)
    }

    /// Subscribes to a characteristic and returns a stream of the values that it sends: by notification if
    /// the characteristic supports that, otherwise by indication; with `indications` by indication only.
    /// Throws `BLEError.invalidRequest` when the characteristic does not have the property. The stream owns
    /// the subscription, which begins before the call returns and ends with the stream. Values that were
    /// received earlier, during the first discovery of the link, come first.
    ///
    /// Values are received however slow the consumer is; `buffer` determines what happens when it falls
    /// behind. `confirming` determines when an indication is confirmed. With `completing`, the rest of a
    /// value that fills its packet is read before the consumer receives the value; if the rest cannot be
    /// read, `mayBeTruncated` stays true.
    ///
    /// A characteristic without Client Characteristic Configuration, which the specification requires (Core
    /// Specification 5.4, Vol 3, Part G, 3.3.1.1), cannot be subscribed to: the call throws
    /// `BLEError.peerMisbehaved`. Without `requiringConfiguration`, the stream has the values that the device sends
    /// all the same. Where the device refuses to show the descriptors, its error is thrown in any case.
    ///
    /// ```swift
    /// for try await measured in try await peripheral.values(of: temperature, buffer: .newest(1)) {
    ///     print(measured.value)
    /// }
    /// ```
    public func values(
        of characteristic: RemoteCharacteristic, indications: Bool = false,
        buffer: BufferPolicy = .standard, confirming: IndicationConfirmation = .whenQueued,
        completing: Bool = false, requiringConfiguration: Bool = true
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        try await values(
            of: [characteristic],
            SubscriptionOptions(
                indications: indications, buffer: buffer, confirmation: confirming, completing: completing,
                requiresConfiguration: requiringConfiguration, requiresIndications: true))
    }

    /// Subscribes to several characteristics, one after the other, and returns one stream of the values that they
    /// send, in the order of arrival; `ReceivedValue.handle` is the `valueHandle` of the characteristic. Otherwise as
    /// `values(of:indications:buffer:confirming:completing:)`; `indications` applies to those that support them. If a
    /// subscription fails, the others end, and its error is thrown.
    ///
    /// ```swift
    /// for try await value in try await peripheral.values(of: [temperature, humidity]) {
    ///     print(value.handle == temperature.valueHandle ? "°C" : "%", value.value)
    /// }
    /// ```
    public func values(
        of characteristics: [RemoteCharacteristic], indications: Bool = false,
        buffer: BufferPolicy = .standard, confirming: IndicationConfirmation = .whenQueued,
        completing: Bool = false, requiringConfiguration: Bool = true
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        try await values(
            of: characteristics,
            SubscriptionOptions(
                indications: indications, buffer: buffer, confirmation: confirming, completing: completing,
                requiresConfiguration: requiringConfiguration))
    }

    private func values(
        of characteristics: [RemoteCharacteristic], _ options: SubscriptionOptions
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        if let request { return try await request.values(of: characteristics, options, on: self) }
        return try await adapter.subscribe(to: characteristics, options, on: link)
    }
}

/// One stream of the values of subscriptions that come and go.
package struct ValueCollector: Sendable {
    /// The values, in the order of arrival. The end of the stream ends all subscriptions.
    package let values: BoundedStream<ReceivedValue>
    private let peripheral: Peripheral
    private let feed: ValueFeed.Number

    package init(of peripheral: Peripheral, buffer: BufferPolicy = .standard) async throws(BLEError) {
        self.peripheral = peripheral
        (values, feed) = try await peripheral.adapter.valueStream(
            ValueCollector.options(false, buffer), on: peripheral.link)
    }

    /// Subscribes to a characteristic. Its values can arrive before the call returns.
    package func add(
        _ characteristic: RemoteCharacteristic, indications: Bool
    ) async throws(BLEError) {
        try await peripheral.adapter.subscribe(
            feed, to: [characteristic], Self.options(indications, .standard), on: peripheral.link)
    }

    /// Ends the subscription to the characteristic with this value.
    package func remove(_ handle: AttributeHandle) async {
        await peripheral.adapter.unsubscribe(feed, from: handle, on: peripheral.link)
    }

    private static func options(_ indications: Bool, _ buffer: BufferPolicy) -> SubscriptionOptions {
        SubscriptionOptions(
            indications: indications, buffer: buffer, confirmation: .whenQueued, completing: false,
            requiresConfiguration: false, requiresIndications: true)
    }
}

/// Discovery in steps, as in Core Bluetooth: each step requests only its own part, and sends no request once
/// `discover()` has found everything. To discover everything, `discover()` needs fewer requests.
extension Peripheral {
    /// Discovers the primary services, or those with the types `uuids`, without their contents (Core
    /// Specification 5.4, Vol 3, Part G, 4.4).
    public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(BLEError) -> [RemoteService] {
        try await adapter.discoverServices(uuids, on: link)
    }

    /// Discovers the services that `service` includes, or those of them with the types `uuids` (4.5.1).
    public func discoverIncludedServices(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteInclude] {
        try await adapter.discoverIncludes(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// Discovers the characteristics of `service`, or those of them with the types `uuids` (4.6). They contain
    /// their descriptors only if the whole database is known; `values(of:)` finds the descriptors that it needs.
    public func discoverCharacteristics(
        _ uuids: [BluetoothUUID]? = nil, for service: some ServiceReference
    ) async throws(BLEError) -> [RemoteCharacteristic] {
        try await adapter.discoverCharacteristics(of: CheckedService(service), on: link)
            .filter { uuids?.contains($0.uuid) ?? true }
    }

    /// Discovers the descriptors of a characteristic (4.7).
    public func discoverDescriptors(
        for characteristic: RemoteCharacteristic
    ) async throws(BLEError) -> [RemoteDescriptor] {
        try await adapter.discoverDescriptors(of: characteristic, on: link)
    }

    /// Reads and decodes the value of a descriptor. Throws `BLEError.peerMisbehaved` when its octets are not
    /// valid for its type.
    public func value(of descriptor: RemoteDescriptor) async throws(BLEError) -> DescriptorValue {
        let octets = try await read(descriptor)
        do throws(DecodeError) {
            return try DescriptorValue(descriptor.uuid, octets)
        } catch {
            throw .peerMisbehaved(.malformedValue(error))
        }
    }

    /// Returns a stream of the changes of the device's services from now on: the handles among which attributes
    /// were added, removed or changed. After a change `discover()` returns the new database, and operations on
    /// attributes among these handles that were found before throw `BLEError.databaseChanged`; other attributes can
    /// still be used.
    ///
    /// Servers indicate changes to clients that have subscribed to Service Changed. `discover()` subscribes; if
    /// it has not run on this link, this call starts it, and the stream ends with its error if it fails. A server
    /// without Service Changed, or one that refuses the subscription, reports no changes. When the consumer is
    /// slow, the oldest of 64 waiting changes are dropped and counted. The stream ends with the link.
    public func serviceChanges() -> BoundedStream<ServiceChange> {
        let buffer = StreamBuffer<ServiceChange>(.newest(64))
        adapter.loop.execute { [adapter, link] in
            adapter.assumeIsolated { $0.watchServices(of: link, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}

/// The kind of write, named as in Core Bluetooth.
public enum WriteType: Hashable, Sendable, CaseIterable {
    /// By a request, which the device answers.
    case withResponse
    /// By a command, which has no response.
    case withoutResponse
}

extension Peripheral {
    /// Writes a value with or without a response, as `write(_:to:)` and `writeWithoutResponse(_:to:)` do.
    public func write(
        _ value: [UInt8], to attribute: some AttributeReference, type: WriteType
    ) async throws(BLEError) {
        switch type {
        case .withResponse: try await write(value, to: attribute)
        case .withoutResponse: try await writeWithoutResponse(value, to: attribute)
        }
    }

    /// Returns the longest value that can be written in this way, in octets: 512 with a response, since a value
    /// that does not fit one packet is written in parts; the MTU less 3 without a response.
    public func maximumWriteLength(for type: WriteType) async throws(BLEError) -> Int {
        switch type {
        case .withResponse: ATTLimits.valueLength
        case .withoutResponse: try await maximumWriteLength
        }
    }

    /// Whether the link accepts a write without response now: fewer than 64 writes without response and
    /// notifications wait for the radio, and no earlier write waits for room. False when the link has ended.
    public var canSendWriteWithoutResponse: Bool {
        get async { await adapter.canSendUnsolicited(on: link) }
    }

    /// Waits until the link accepts a write without response. This is for callers with several links, since
    /// `writeWithoutResponse(_:to:)` waits by itself.
    public func readyToSendWriteWithoutResponse() async throws(BLEError) {
        try await adapter.untilCanSendUnsolicited(on: link)
    }

    /// Writes a value without a response, as `writeWithoutResponse(_:to:)` does, if the link accepts it now. Returns
    /// false, and sends nothing, when it does not.
    public func tryWriteWithoutResponse(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) -> Bool {
        let checked = try commandTarget(attribute)
        return try await adapter.tryCommand(.write(checked.handle, value: value), about: [checked], on: link)
    }

    /// Waits until every write without response that the link has accepted has left this host. Writes that are
    /// accepted later do not extend the wait. On adapters that
    /// only this process uses, the controller has then reported the packets as completed, which the device's
    /// controller has acknowledged. On kernel adapters the kernel has passed them to the controller.
    ///
    /// `disconnect` and the end of `withConnection` wait for this, too.
    ///
    /// - Throws: `BLEError.unsent` with the number of packets that were not sent, when none has left for 2 s, when
    ///   not all have left within 10 s, or when the link has ended before. Packets that the kernel held when a
    ///   link was lost are not counted, since their number is not known.
    public func waitUntilSent() async throws(BLEError) { try await adapter.waitUntilSent(on: link) }

    /// Returns the signal strength of the device's packets in dBm, -127 to 20; nil when the controller does
    /// not know it (127).
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
        try await perform(on: id) { $0.gatt.waitUntilReady() }
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

/// The way in which the parts of a long value are written.
public enum ChunkWriting: Sendable {
    /// Each part by a command, which has no response, as fast as the link accepts them. The controller's buffers
    /// limit the rate.
    case withoutResponse
    /// Each part by a request, after the response to the one before.
    case withResponse
    /// By commands, for devices with a flow control of their own. `initial` parts are written at first.
    /// Whenever the credits are used up, `more` is awaited and returns the number of further parts that can
    /// be written; after 0 or less it is called again.
    case credits(initial: Int, more: @Sendable () async throws(BLEError) -> Int)
}

/// The progress of a long write.
public struct ChunkProgress: Hashable, Sendable {
    /// The number of octets that have been written.
    public var written: Int
    /// The number of octets of the whole value.
    public var total: Int
}

extension Peripheral {
    /// Writes a value of any length as parts of `size` octets, each of which is a write of its own. Nil
    /// selects the longest parts that fit one packet: the MTU less 3, which is 20 octets at an MTU of 23.
    /// Commands with longer parts throw `BLEError.limit`. `progress` is called after each part. Cancelling
    /// the task ends the write between two parts.
    ///
    /// ```swift
    /// try await peripheral.write(firmware, to: upload, inPartsOf: 128) { print($0.written, "of", $0.total) }
    /// ```
    /// The device determines what the parts mean; `ValueReassembler` supports the usual formats.
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

extension Peripheral: CustomStringConvertible {
    /// The address of the device and its type.
    public var description: String { "\(address)" }
}
