import BLECore

/// A characteristic's UUID with the Swift type of its value, so that values are read, written and notified in
/// that type.
///
/// ```swift
/// let level = try await peripheral.read(.batteryLevel)
/// let mode = CharacteristicKey<UInt8>(0x1234_5678_9abc_def0_1234_5678_9abc_def0)
/// ```
public struct CharacteristicKey<Value: Sendable>: Sendable {
    /// The UUID of the characteristic.
    public let characteristic: BluetoothUUID
    /// The type of the service that contains the characteristic. If it is nil, the first service that
    /// contains the characteristic is used; otherwise, only services of that type are searched.
    public let service: BluetoothUUID?
    /// Decodes the octets that were read or notified.
    public let decode: @Sendable ([UInt8]) throws(DecodeError) -> Value
    /// Encodes a value as the octets to write.
    public let encode: @Sendable (Value) -> [UInt8]

    /// Creates a key of a characteristic whose values are decoded and encoded by these functions.
    public init(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID? = nil,
        decode: @escaping @Sendable ([UInt8]) throws(DecodeError) -> Value,
        encode: @escaping @Sendable (Value) -> [UInt8]
    ) {
        self.characteristic = characteristic
        self.service = service
        self.decode = decode
        self.encode = encode
    }
}

extension CharacteristicKey where Value: PacketCodable {
    /// Creates a key of a characteristic whose value type decodes and encodes itself.
    package init(_ characteristic: BluetoothUUID, in service: BluetoothUUID? = nil) {
        self.init(
            characteristic, in: service,
            decode: { (octets) throws(DecodeError) in try Value(octets) }, encode: { $0.encoded })
    }
}

extension CharacteristicKey where Value: FixedWidthInteger {
    /// Creates a key of a characteristic whose value is a number, least significant octet first.
    public init(_ characteristic: BluetoothUUID, in service: BluetoothUUID? = nil) {
        self.init(
            characteristic, in: service,
            decode: { (octets) throws(DecodeError) in try Value(decoding: octets) },
            encode: { [UInt8](littleEndian: $0) })
    }
}

extension CharacteristicKey where Value == [UInt8] {
    /// Creates a key of a characteristic whose value is its octets.
    public init(_ characteristic: BluetoothUUID, in service: BluetoothUUID? = nil) {
        self.init(
            characteristic, in: service, decode: { (octets) throws(DecodeError) in octets }, encode: { $0 })
    }
}

extension CharacteristicKey where Value == String {
    /// Creates a key of a characteristic whose value is UTF-8 text. Invalid octets are replaced by U+FFFD,
    /// and zeros at the end, which some devices add, are removed.
    public init(_ characteristic: BluetoothUUID, in service: BluetoothUUID? = nil) {
        self.init(
            characteristic, in: service,
            decode: { (octets) throws(DecodeError) in
                let end = octets.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
                return String(decoding: octets[..<end], as: UTF8.self)
            },
            encode: { Array($0.utf8) })
    }
}

extension FixedWidthInteger {
    /// Creates the number from `octets`, whose count must be that of the type.
    fileprivate init(decoding octets: [UInt8]) throws(DecodeError) {
        var reader = ByteReader(octets.span, of: "number of \(Self.bitWidth) bits")
        let number = try reader.bytes(Self.bitWidth / 8, "value")
        try reader.end()
        self.init(littleEndian: number)
    }
}
