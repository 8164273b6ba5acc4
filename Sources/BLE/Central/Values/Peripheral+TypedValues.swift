import ATT
import BLECore
import GATTClient

extension Peripheral {
    /// The characteristic that a key names: of the database, if it is known, else looked for in the key's service.
    public func characteristic<Value>(
        _ key: CharacteristicKey<Value>
    ) async throws(BLEError) -> RemoteCharacteristic {
        try await characteristic(uuid: key.characteristic, in: key.service)
    }

    /// The first characteristic of a type: of the database, if it is known, else looked for in the services of the type
    /// that `service` is; nil: in all services.
    ///
    /// ```swift
    /// let temperature = try await peripheral.characteristic(uuid: 0x2a6e)
    /// let octets = try await peripheral.read(temperature)
    /// ```
    ///
    /// - Throws: `BLEError.notFound` when the device has none.
    public func characteristic(
        uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) async throws(BLEError) -> RemoteCharacteristic {
        var found: RemoteCharacteristic?
        if let service {
            for each in try await discover(service: service) { found = found ?? each.characteristic(uuid) }
        } else {
            found = try await discover().characteristics(uuid).first
        }
        guard let found else { throw .notFound(.characteristic(uuid, of: address)) }
        return found
    }

    /// The value of a characteristic. Octets that are none of its type are `BLEError.peerMisbehaved`.
    public func read<Value>(_ key: CharacteristicKey<Value>) async throws(BLEError) -> Value {
        try key.value(of: try await read(try await characteristic(key)))
    }

    /// Writes a value to the characteristic of a key.
    public func write<Value>(
        _ value: Value, to key: CharacteristicKey<Value>, type: WriteType = .withResponse
    ) async throws(BLEError) {
        try await write(key.encode(value), to: try await characteristic(key), type: type)
    }

    /// The values that a characteristic sends, as `values(of:)` gives its octets: by notification, or by
    /// indication where it does not notify.
    public func values<Value>(
        of key: CharacteristicKey<Value>, buffer: BufferPolicy = .standard
    ) async throws(BLEError) -> TypedValues<Value> {
        let found = try await characteristic(key)
        return TypedValues(key, try await values(of: found, buffer: buffer))
    }

    /// What the device says of itself; what it does not say, or will not, is nil. The values are read one after the
    /// other.
    public func deviceInformation() async throws(BLEError) -> DeviceInformation {
        var information = DeviceInformation()
        for service in try await discover(service: .deviceInformationService) {
            for characteristic in service.characteristics where characteristic.properties.contains(.read) {
                do throws(BLEError) {
                    let value = try await read(characteristic)
                    // What is no value of its type says nothing.
                    _ = try? information.take(characteristic.uuid, value)
                } catch .att {
                    continue
                }
            }
        }
        return information
    }
}

extension CharacteristicKey {
    fileprivate func value(of octets: [UInt8]) throws(BLEError) -> Value {
        do throws(DecodeError) {
            return try decode(octets)
        } catch {
            throw .peerMisbehaved(.malformedValue(error))
        }
    }
}

/// The values that a characteristic sends, read as what they are. Octets that are none of its type end it with
/// `BLEError.peerMisbehaved`.
public struct TypedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// The error that ends the stream early.
    public typealias Failure = BLEError

    /// The octets, with what else is known of them.
    package let received: BoundedStream<ReceivedValue>
    private let key: CharacteristicKey<Value>

    init(_ key: CharacteristicKey<Value>, _ received: BoundedStream<ReceivedValue>) {
        self.key = key
        self.received = received
    }

    /// The consumer. A second one would take values from the first.
    public func makeAsyncIterator() -> Iterator {
        Iterator(key: key, received: received.makeAsyncIterator())
    }

    /// Iterates over the decoded values.
    public struct Iterator: AsyncIteratorProtocol {
        let key: CharacteristicKey<Value>
        var received: BoundedStream<ReceivedValue>.Iterator

        /// The next value; nil after the end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BLEError) -> Value? {
            guard let next = try await received.next(isolation: actor) else { return nil }
            return try key.value(of: next.value)
        }

        /// The next value; nil after the end.
        public mutating func next() async throws(BLEError) -> Value? {
            guard let next = try await received.next() else { return nil }
            return try key.value(of: next.value)
        }
    }
}
