import ATT
import BLECore
import GATTClient

extension Peripheral {
    /// Returns the characteristic of a key: from the database if it is known, otherwise by a discovery of the
    /// key's service.
    public func characteristic<Value>(
        _ key: CharacteristicKey<Value>
    ) async throws(BLEError) -> RemoteCharacteristic {
        try await characteristic(uuid: key.characteristic, in: key.service)
    }

    /// Returns the first characteristic with the type `uuid`: from the database if it is known, otherwise by
    /// a discovery of the services with the type `service`; nil searches all services.
    ///
    /// ```swift
    /// let temperature = try await peripheral.characteristic(uuid: 0x2a6e)
    /// let octets = try await peripheral.read(temperature)
    /// ```
    ///
    /// - Throws: `BLEError.notFound` when the device has no such characteristic.
    public func characteristic(
        uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) async throws(BLEError) -> RemoteCharacteristic {
        var found: RemoteCharacteristic?
        if let service {
            for each in try await discover(service: service) { found = found ?? each.characteristic(uuid) }
        } else {
            found = try await discover().characteristics(uuid).first
        }
        if let found { return found }
        throw .notFound(
            service.map { .characteristicOfService(uuid, service: $0, of: address) }
                ?? .characteristic(uuid, of: address))
    }

    /// Reads and decodes the value of a characteristic. Throws `BLEError.peerMisbehaved` when its octets are not
    /// valid for its type.
    public func read<Value>(_ key: CharacteristicKey<Value>) async throws(BLEError) -> Value {
        try key.value(of: try await read(try await characteristic(key)))
    }

    /// Writes a value to the characteristic of a key.
    public func write<Value>(
        _ value: Value, to key: CharacteristicKey<Value>, type: WriteType = .withResponse
    ) async throws(BLEError) {
        try await write(key.encode(value), to: try await characteristic(key), type: type)
    }

    /// Subscribes to a characteristic and returns a stream of its decoded values, as `values(of:)` does for its
    /// octets: by notification, or by indication if it does not notify.
    public func values<Value>(
        of key: CharacteristicKey<Value>, buffer: BufferPolicy = .standard
    ) async throws(BLEError) -> TypedValues<Value> {
        let found = try await characteristic(key)
        return TypedValues(key, try await values(of: found, buffer: buffer))
    }

    /// Reads the Device Information Service, one value after the other. A value that the device does not have, or
    /// does not return, is nil.
    public func deviceInformation() async throws(BLEError) -> DeviceInformation {
        var information = DeviceInformation()
        for service in try await discover(service: .deviceInformationService) {
            for characteristic in service.characteristics where characteristic.properties.contains(.read) {
                do throws(BLEError) {
                    let value = try await read(characteristic)
                    // A malformed value is skipped.
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

/// A stream of the decoded values that a characteristic sends. It ends with `BLEError.peerMisbehaved` when the
/// octets of a value are not valid for its type.
public struct TypedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// The error that ends the stream early.
    public typealias Failure = BLEError

    /// The octets of the values, with the other data of each.
    package let received: BoundedStream<ReceivedValue>
    private let key: CharacteristicKey<Value>

    init(_ key: CharacteristicKey<Value>, _ received: BoundedStream<ReceivedValue>) {
        self.key = key
        self.received = received
    }

    /// Creates an iterator. A second iterator would take values from the first.
    public func makeAsyncIterator() -> Iterator {
        Iterator(key: key, received: received.makeAsyncIterator())
    }

    /// Iterates over the decoded values.
    public struct Iterator: AsyncIteratorProtocol {
        let key: CharacteristicKey<Value>
        var received: BoundedStream<ReceivedValue>.Iterator

        /// Returns the next value; nil after the end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BLEError) -> Value? {
            guard let next = try await received.next(isolation: actor) else { return nil }
            return try key.value(of: next.value)
        }

        /// Returns the next value; nil after the end.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> Value? {
            guard let next = try await received.next() else { return nil }
            return try key.value(of: next.value)
        }
    }
}
