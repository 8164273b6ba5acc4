import BLECore

/// A measurement of a heart rate sensor (Heart Rate Service 1.0, 3.1).
public struct HeartRateMeasurement: Hashable, PacketCodable {
    /// The heart rate in beats per minute.
    public var beatsPerMinute: UInt16
    /// Whether the sensor touches the skin; nil if it does not detect that.
    public var hasContact: Bool?
    /// The energy expended since it was last reset, in kilojoules; 65,535 means that value or more.
    public var energyExpended: UInt16?
    /// The times between beats since the last measurement, the oldest first, in 1/1024 s.
    public var intervals: [UInt16]

    /// Creates a measurement; nil and an empty list leave the field out of the encoding.
    public init(
        beatsPerMinute: UInt16, hasContact: Bool? = nil, energyExpended: UInt16? = nil,
        intervals: [UInt16] = []
    ) {
        self.beatsPerMinute = beatsPerMinute
        self.hasContact = hasContact
        self.energyExpended = energyExpended
        self.intervals = intervals
    }

    /// The times between beats, the oldest first.
    public var durations: [Duration] { intervals.map { .seconds(Int($0)) / 1024 } }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let wideRate = Flags(rawValue: 1 << 0)
        static let contact = Flags(rawValue: 1 << 1)
        static let contactSupported = Flags(rawValue: 1 << 2)
        static let energy = Flags(rawValue: 1 << 3)
        static let intervals = Flags(rawValue: 1 << 4)
    }

    package static let packetName = "Heart Rate Measurement"

    /// Reads the fields in order; the intervals take all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let flags = Flags(rawValue: try reader.u8("flags"))
        beatsPerMinute =
            flags.contains(.wideRate) ? try reader.u16("heart rate") : UInt16(try reader.u8("heart rate"))
        hasContact = flags.contains(.contactSupported) ? flags.contains(.contact) : nil
        energyExpended = flags.contains(.energy) ? try reader.u16("energy expended") : nil
        intervals = []
        guard flags.contains(.intervals) else { return }
        while reader.remaining > 0 { intervals.append(try reader.u16("RR interval")) }
    }

    private var flags: Flags {
        var flags: Flags = []
        if beatsPerMinute > UInt8.max { flags.insert(.wideRate) }
        if hasContact != nil { flags.insert(.contactSupported) }
        if hasContact == true { flags.insert(.contact) }
        if energyExpended != nil { flags.insert(.energy) }
        if !intervals.isEmpty { flags.insert(.intervals) }
        return flags
    }

    /// The number of octets of the flags and the fields that are present.
    package var encodedCount: Int {
        1 + (beatsPerMinute > UInt8.max ? 2 : 1) + (energyExpended == nil ? 0 : 2) + 2 * intervals.count
    }

    /// Writes the rate in as few octets as it needs.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(flags.rawValue)
        if let short = UInt8(exactly: beatsPerMinute) { output.u8(short) } else { output.u16(beatsPerMinute) }
        if let energyExpended { output.u16(energyExpended) }
        for interval in intervals { output.u16(interval) }
    }
}

extension BluetoothUUID {
    /// The Heart Rate Service of the SIG's assigned numbers, 0x180d.
    public static let heartRateService: BluetoothUUID = 0x180d
    /// The characteristic Heart Rate Measurement, 0x2a37.
    public static let heartRateMeasurement: BluetoothUUID = 0x2a37
}

extension CharacteristicKey<HeartRateMeasurement> {
    /// The characteristic Heart Rate Measurement, which is notified.
    public static let heartRateMeasurement = CharacteristicKey(.heartRateMeasurement, in: .heartRateService)
}
