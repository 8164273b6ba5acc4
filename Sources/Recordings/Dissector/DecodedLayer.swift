import ATT
import BLEAdvertising
import BLECore
import HCI
import SMP

/// One layer of a packet. Its fields are generated from its message on access.
package struct DecodedLayer: Sendable {
    /// The protocols that a layer can belong to.
    package enum Layer: String, Hashable, Sendable, CaseIterable {
        /// HCI packets: commands, events and data.
        case hci
        /// An L2CAP frame on a channel of a connection.
        case l2cap
        /// The signaling channel of L2CAP on LE.
        case signaling
        case att
        case smp
        /// Advertising data, with its AD structures.
        case adv
        /// The messages of a monitor other than packets.
        case monitor
        /// The kernel's management interface, whose traffic monitors also record.
        case mgmt
    }

    /// The decoded content of the octets.
    enum Content: Sendable {
        /// Octets that could not be decoded.
        case octets
        /// Data, or a command or event without a type of its own.
        case packet(HCIPacket)
        case command(any HCICommand)
        case event(HCIEvent, returned: (any HCIParameters)?)
        case frame(L2CAPFrame)
        /// An ATT PDU, with the attribute type that a Read By Type Request requested.
        case att(ATTPDU, of: BluetoothUUID?)
        case smp(SMPCommand)
        case signaling(LESignalingPDU, (any LESignalingMessage)?)
        case advertising(AdvertisingData)
        case note(MonitorNote)
        case classic(ClassicEvent)
        /// Octets without fields: those of a vendor's packet, or of one that was cut.
        case data([UInt8])
    }

    package var layer: Layer
    /// The specification's name of the message, or its number if it has no name.
    package var name: String
    package var bytes: [UInt8]
    /// The decoding error; nil if decoding succeeded.
    package var problem: String?
    var content: Content
    /// The last extended report of the event before, whose data can go on with this one.
    var reportBefore: LEExtendedAdvertisingReports.Report?

    init(_ layer: Layer, name: String, bytes: [UInt8], _ content: Content, problem: String? = nil) {
        (self.layer, self.name, self.bytes) = (layer, name, bytes)
        (self.content, self.problem) = (content, problem)
    }

    /// Creates a layer of octets that could not be decoded.
    init(_ layer: Layer, name: String, undecoded bytes: [UInt8], _ error: DecodeError) {
        self.init(layer, name: name, bytes: bytes, .octets, problem: error.description)
    }
}

extension DecodedLayer {
    /// The fields of the message, which are generated on each access.
    package var fields: DecodedFields {
        switch content {
        case .octets: hciParameters
        case .packet(let packet): DecodedFields(packet)
        case .command(let command): DecodedFields(command)
        case .event(let event, let returned): DecodedFields(event, returned: returned, after: reportBefore)
        case .frame(let frame): DecodedFields(frame)
        case .att(let pdu, let type): pdu.fields(of: type)
        case .smp(let command): command.fields
        case .signaling(let packet, let message): DecodedFields(packet, message)
        case .advertising(let data): DecodedFields(data)
        case .note(let note): note.fields
        case .classic(let event): event.fields
        case .data(let data): ["data": .octets(data)]
        }
    }

    /// The decoded message, which encodes to `bytes` again, except for the reserved bits of HCI's connection
    /// handles; nil if the layer has no such message.
    package var message: (any PacketEncodable)? {
        guard problem == nil else { return nil }
        return switch content {
        case .octets, .note, .advertising, .data: nil
        case .packet(let packet): packet
        case .command(let command): HCIPacket.command(command.packet)
        case .event(let event, _): HCIPacket.event(event.packet)
        case .classic(let event): HCIPacket.event(event.packet)
        case .frame(let frame): frame
        case .att(let pdu, _): pdu
        case .smp(let command): command
        case .signaling(let packet, _): packet
        }
    }

    /// The HCI event of the layer, if it is one.
    package var event: HCIEvent? { if case .event(let event, _) = content { event } else { nil } }

    /// The ATT PDU of the layer, if it is one.
    package var att: ATTPDU? { if case .att(let pdu, _) = content { pdu } else { nil } }

    /// The SMP packet of the layer, if it is one.
    package var smp: SMPCommand? { if case .smp(let command) = content { command } else { nil } }

    /// The undecoded parameters of a command or event whose header is complete.
    private var hciParameters: DecodedFields {
        guard layer == .hci, let packet = try? HCIPacket(bytes) else { return [:] }
        return DecodedFields(packet)
    }
}

extension DecodedLayer {
    /// Decodes an HCI packet that begins with the octet of its type.
    package static func hci(_ bytes: [UInt8]) -> (layer: DecodedLayer, packet: HCIPacket?) {
        do throws(DecodeError) {
            let packet = try HCIPacket(bytes)
            return (hci(packet, bytes), packet)
        } catch {
            let type = bytes.first.map(HCIPacketType.init(rawValue:))
            if type == VendorPackets.diagnostics {
                return (.vendor("Vendor Diagnostics", bytes, Array(bytes.dropFirst())), nil)
            }
            return (DecodedLayer(.hci, name: name(of: type), undecoded: bytes, error), nil)
        }
    }

    private static func name(of type: HCIPacketType?) -> String {
        switch type {
        case .command?: "HCI Command"
        case .acl?: "ACL Data"
        case .synchronous?: "Synchronous Data"
        case .event?: "HCI Event"
        case .iso?: "ISO Data"
        case let other?: "packet type 0x" + other.rawValue.hex
        case nil: "no packet"
        }
    }

    private static func name(of packet: HCIPacket) -> String {
        switch packet {
        case .acl, .synchronous, .iso: return name(of: packet.type)
        case .command(let command):
            return VendorPackets.name(of: command.opcode)
        case .event(let event):
            guard event.code == .leMeta, let subevent = event.parameters.first else {
                return event.code.description
            }
            return LESubevent(rawValue: subevent).description
        }
    }

    private static func hci(_ packet: HCIPacket, _ bytes: [UInt8]) -> DecodedLayer {
        switch packet {
        case .acl, .synchronous, .iso:
            return DecodedLayer(.hci, name: name(of: packet), bytes: bytes, .packet(packet))
        case .command(let command):
            var layer = decoded(name(of: packet), bytes) { () throws(DecodeError) in
                try command.decoded().map { .command($0) } ?? .packet(packet)
            }
            if case .command(let own as any OwnAdvertising) = layer.content, let data = own.wholeData {
                layer.problem = Self.problem(of: data)
            }
            return layer
        case .event(let event):
            var layer = decoded(name(of: packet), bytes) { () throws(DecodeError) in
                let decoded = try HCIEvent(event)
                return switch decoded {
                case .unknown: try ClassicEvent(event).map { .classic($0) } ?? .packet(packet)
                case .leMeta(.unknown): .packet(packet)
                case .commandComplete(let complete): .event(decoded, returned: try complete.returned())
                default: .event(decoded, returned: nil)
                }
            }
            layer.problem = layer.problem ?? layer.event?.problemOfReports
            return layer
        }
    }

    /// Returns what is wrong with advertising data; nil if nothing is.
    fileprivate static func problem(of data: [UInt8]) -> String? {
        let data = AdvertisingData(data)
        guard data.mayHaveProblems else { return nil }
        let problems = data.problems.map(\.description)
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    private static func decoded(
        _ name: String, _ bytes: [UInt8], _ body: () throws(DecodeError) -> Content
    ) -> DecodedLayer {
        do throws(DecodeError) {
            return DecodedLayer(.hci, name: name, bytes: bytes, try body())
        } catch {
            return DecodedLayer(.hci, name: name, undecoded: bytes, error)
        }
    }
}

extension DecodedFields {
    /// Creates the fields of data, or of a command or event with its parameters as octets.
    init(_ packet: HCIPacket) {
        self =
            switch packet {
            case .acl(let data):
                [
                    "connection": .number(Int(data.handle.rawValue)), "boundary": .text("\(data.boundary)"),
                    "octets": .number(data.data.count),
                ]
            case .synchronous(let data):
                ["connection": .number(Int(data.handle.rawValue)), "data": .octets(data.data)]
            case .iso(let data): DecodedFields(data)
            case .command(let command): ["parameters": .octets(command.parameters)]
            case .event(let event): ["parameters": .octets(event.parameters)]
            }
    }

    /// Creates the fields of an event and of the return parameters of a command in it.
    /// `before` is the last extended report of the event before.
    init(
        _ event: HCIEvent, returned: (any HCIParameters)?,
        after before: LEExtendedAdvertisingReports.Report? = nil
    ) {
        switch event {
        case .leMeta(.advertisingReports(let event)): self.init(event)
        case .leMeta(.extendedAdvertisingReports(let event)): self.init(event, after: before)
        case .leMeta(let event): self.init(reflecting: event.parameters)
        // Reflection would be slow, and nearly every data packet causes one of these events.
        case .numberOfCompletedPackets(let event):
            let completed = event.completed.map { entry in
                FieldValue.fields([
                    "connection": .number(Int(entry.connection.rawValue)),
                    "count": .number(Int(entry.count)),
                ])
            }
            self = ["completed": .list(completed)]
        case .commandComplete(let event):
            self = [
                "credits": .number(Int(event.credits)), "opcode": .text(VendorPackets.name(of: event.opcode)),
            ]
            if let status = event.status { append("status", .name(status)) }
            if let returned {
                append(DecodedFields(reflecting: returned))
            } else if event.returnParameters.count > 1 {
                append("parameters", .octets(event.returnParameters.dropFirst()))
            }
        default: self.init(reflecting: event.parameters)
        }
    }
}

extension DecodedLayer {
    /// Decodes the header of an HCI packet of which only the first octets were recorded. The rest counts as all of its
    /// data or parameters.
    static func part(of bytes: [UInt8]) -> DecodedLayer {
        let type = bytes.first.map(HCIPacketType.init(rawValue:))
        var whole = bytes
        switch type {
        case .acl? where bytes.count >= 5:
            let count = min(bytes.count - 5, 0xffff)
            whole = Array(bytes[..<3]) + [UInt8](littleEndian: UInt16(count)) + Array(bytes[5..<(5 + count)])
        case .command? where bytes.count >= 4:
            let count = min(bytes.count - 4, 0xff)
            whole = Array(bytes[..<3]) + [UInt8(count)] + Array(bytes[4..<(4 + count)])
        case .event? where bytes.count >= 3:
            let count = min(bytes.count - 3, 0xff)
            whole = Array(bytes[..<2]) + [UInt8(count)] + Array(bytes[3..<(3 + count)])
        default: break
        }
        guard let packet = try? HCIPacket(whole) else {
            return .vendor(name(of: type), bytes, Array(bytes.dropFirst()))
        }
        return DecodedLayer(.hci, name: name(of: packet), bytes: bytes, .packet(packet))
    }

    /// Decodes the first octets of an L2CAP frame. Of the packet in it, only a value at the end is decoded: other fields
    /// might be cut, and another packet would result.
    static func part(ofFrame bytes: [UInt8]) -> [DecodedLayer] {
        guard bytes.count >= L2CAPFrame.headerLength else { return [] }
        let channel = L2CAPChannelID(rawValue: UInt16(bytes[2]) | UInt16(bytes[3]) << 8)
        let payload = Array(bytes.dropFirst(L2CAPFrame.headerLength))
        var layers = frame(L2CAPFrame(channel, payload), bytes)
        guard layers.count > 1, var layer = layers.popLast() else { return layers }
        let values: [ATTOpcode] = [
            .readResponse, .readBlobResponse, .writeRequest, .writeCommand, .handleValueNotification,
            .handleValueIndication,
        ]
        if layer.problem != nil || !values.contains(where: { $0.rawValue == payload.first })
            || channel != .att
        {
            layer.content = .data(Array(payload.dropFirst()))
            layer.problem = nil
        }
        return layers + [layer]
    }

    /// Decodes a whole L2CAP frame. A frame on the channels of ATT, SMP and LE signaling contains a second
    /// layer.
    package static func l2cap(_ bytes: [UInt8]) -> [DecodedLayer] {
        do throws(DecodeError) {
            return frame(try L2CAPFrame(bytes), bytes)
        } catch {
            return [DecodedLayer(.l2cap, name: "L2CAP frame", undecoded: bytes, error)]
        }
    }

    static func frame(_ frame: L2CAPFrame, _ bytes: [UInt8]) -> [DecodedLayer] {
        let layer = DecodedLayer(.l2cap, name: "L2CAP frame", bytes: bytes, .frame(frame))
        switch frame.channel {
        case .att: return [layer, att(frame.payload)]
        case .securityManager: return [layer, smp(frame.payload)]
        case .leSignaling: return [layer, signaling(frame.payload)]
        default: return [layer]
        }
    }

    /// Decodes an ATT PDU. If decoding fails, the layer has a `problem`.
    package static func att(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { ATTOpcode($0).description } ?? "empty PDU"
        return decoded(.att, name, bytes) { () throws(DecodeError) in .att(try ATTPDU(bytes), of: nil) }
    }

    /// Decodes an SMP packet. If decoding fails, the layer has a `problem`.
    package static func smp(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { SMPCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.smp, name, bytes) { () throws(DecodeError) in .smp(try SMPCommand(bytes)) }
    }

    /// Decodes a packet of the LE signaling channel. If decoding fails, the layer has a `problem`.
    package static func signaling(_ bytes: [UInt8]) -> DecodedLayer {
        let name = bytes.first.map { LESignalingCode(rawValue: $0).description } ?? "empty packet"
        return decoded(.signaling, name, bytes) { () throws(DecodeError) in
            let packet = try LESignalingPDU(bytes)
            return .signaling(packet, try packet.message())
        }
    }

    private static func decoded(
        _ layer: Layer, _ name: String, _ bytes: [UInt8], _ body: () throws(DecodeError) -> Content
    ) -> DecodedLayer {
        do throws(DecodeError) {
            return DecodedLayer(layer, name: name, bytes: bytes, try body())
        } catch {
            return DecodedLayer(layer, name: name, undecoded: bytes, error)
        }
    }
}

extension DecodedFields {
    /// Creates the fields of a packet of the signaling channel and of the message in it, if its type is
    /// known.
    init(_ packet: LESignalingPDU, _ message: (any LESignalingMessage)?) {
        self = ["identifier": .number(Int(packet.identifier))]
        if let message {
            append(DecodedFields(reflecting: message))
        } else {
            append("data", .octets(packet.data))
        }
    }
}

extension DecodedLayer {
    /// Decodes the payload of an advertising packet. Malformed parts are reported as the `problem`, and the
    /// rest is still decoded.
    package static func advertising(_ bytes: [UInt8]) -> DecodedLayer {
        let data = AdvertisingData(bytes)
        let problems = data.problems.map(\.description)
        return DecodedLayer(
            .adv, name: "Advertising Data", bytes: bytes, .advertising(data),
            problem: problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
}

extension DecodedFields {
    /// Creates the fields of a payload, under the names that scans use, followed by a list of its AD
    /// structures.
    init(_ data: AdvertisingData) {
        self.init(summaryOf: data)
        append("structures", .list(data.structures.map { Self.field(of: $0, in: data) }))
    }

    /// Creates the fields of a payload as part of a packet: those of `init(summaryOf:)`, and the structures that have
    /// no field.
    init(partOf data: AdvertisingData) {
        self.init(summaryOf: data)
        let others = data.structures.filter { !Self.summarized.contains($0.type.rawValue) }
        if !others.isEmpty { append("other", .list(others.map { Self.field(of: $0, in: data) })) }
    }

    /// The types of structures that `init(summaryOf:)` shows.
    private static let summarized: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x14, 0x15, 0x16, 0x19, 0x1f, 0x20, 0x21,
        0x24, 0xff,
    ]

    private static func field(of structure: AdvertisingStructure, in data: AdvertisingData) -> FieldValue {
        .fields([
            "type": .number(Int(structure.type.rawValue)), "name": .name(structure.type),
            "data": .octets(data.bytes[structure.content]),
        ])
    }

    /// Creates the fields of a payload, without fields that the payload does not contain.
    init(summaryOf data: AdvertisingData) {
        self = [:]
        if let flags = data.flags { append("flags", .number(Int(flags.rawValue))) }
        if let name = data.localName {
            append("name", .text(name.text))
            append("nameComplete", .bool(name.isComplete))
        }
        append("services", data.serviceUUIDs)
        append("solicited", data.solicitedServiceUUIDs)
        let companies = data.manufacturerData
        if !companies.isEmpty {
            let values = companies.map { data in
                FieldValue.fields([
                    "company": .number(Int(data.company.rawValue)), "data": .octets(data.data),
                ])
            }
            append("manufacturer", .list(values))
        }
        let services = data.serviceData
        if !services.isEmpty {
            let values = services.map {
                FieldValue.fields(["uuid": .name($0.uuid), "data": .octets($0.data)])
            }
            append("serviceData", .list(values))
        }
        let beacons = data.beacons.compactMap { try? $0.get() }
        if !beacons.isEmpty { append("beacons", .list(beacons.map { .fields(DecodedFields($0)) })) }
        if let power = data.txPower { append("txPower", .power(power)) }
        if let appearance = data.appearance { append("appearance", .number(Int(appearance.rawValue))) }
        if let uri = data.uri { append("uri", .text(uri.text)) }
    }

    /// Creates the fields of a beacon. Encrypted content is not decrypted.
    private init(_ beacon: Beacon) {
        self = ["format": .text(beacon.format)]
        for reading in beacon.readings {
            switch reading.value {
            case .quantity(let value):
                let isCount = value.unit == .one && value.number.exponent >= 0
                let whole = isCount ? value.number.mantissa(atExponent: 0).flatMap(Int.init) : nil
                append(reading.name, whole.map(FieldValue.number) ?? .name(value))
            case .state(_, let word): append(reading.name, .text(word))
            case .text(let text): append(reading.name, .text(text))
            case .octets(let octets): append(reading.name, .octets(octets))
            }
        }
        if case .bthome(let packet) = beacon, let ending = packet.ending { append("problem", .name(ending)) }
    }

    private mutating func append(_ name: String, _ uuids: [BluetoothUUID]) {
        if !uuids.isEmpty { append(name, .list(uuids.map { .name($0) })) }
    }

    /// Creates the fields of a legacy scanner's reports and of the data in them. Reflection would be slow,
    /// and most packets of many recordings are such reports.
    init(_ event: LEAdvertisingReports) {
        let reports = event.reports.map { report in
            FieldValue.fields([
                "type": FieldValue(report.type),
                "address": report.address.deviceAddress.map { .name($0) } ?? .null,
                "data": .octets(report.data), "rssi": .power(report.rssi),
                "advertising": .fields(DecodedFields(partOf: AdvertisingData(report.data))),
            ])
        }
        self = ["reports": .list(reports)]
    }

    /// Creates the fields of an extended scanner's reports and of the data in them.
    /// `before` is the last report of the event before.
    init(_ event: LEExtendedAdvertisingReports, after before: LEExtendedAdvertisingReports.Report?) {
        var last: LEExtendedAdvertisingReports.Report?
        let reports = event.reports.map { report in
            var fields = DecodedFields(reflecting: report)
            if !report.continues(last ?? before) {
                fields.append("advertising", .fields(DecodedFields(partOf: AdvertisingData(report.data))))
            }
            last = report
            return FieldValue.fields(fields)
        }
        self = ["reports": .list(reports)]
    }
}

/// A command with data that this host advertises.
protocol OwnAdvertising {
    /// The data, or the part of them in this command.
    var ownData: [UInt8] { get }
    /// The part of the data that the command has.
    var part: AdvertisingDataFragment.Operation { get }
}

extension OwnAdvertising {
    /// Whether the command has the beginning of the data.
    fileprivate var isBeginning: Bool { part == .complete || part == .first }
    /// The data, if the command has all of them.
    fileprivate var wholeData: [UInt8]? { part == .complete ? ownData : nil }
}

extension LESetAdvertisingData: OwnAdvertising {
    var ownData: [UInt8] { data.data ?? [] }
    var part: AdvertisingDataFragment.Operation { .complete }
}
extension LESetScanResponseData: OwnAdvertising {
    var ownData: [UInt8] { data.data ?? [] }
    var part: AdvertisingDataFragment.Operation { .complete }
}
extension LESetExtendedAdvertisingData: OwnAdvertising {
    var ownData: [UInt8] { fragment.data }
    var part: AdvertisingDataFragment.Operation { fragment.operation }
}
extension LESetExtendedScanResponseData: OwnAdvertising {
    var ownData: [UInt8] { fragment.data }
    var part: AdvertisingDataFragment.Operation { fragment.operation }
}
extension LESetPeriodicAdvertisingData: OwnAdvertising {
    var ownData: [UInt8] { fragment.data }
    var part: AdvertisingDataFragment.Operation { fragment.operation }
}

extension DecodedFields {
    /// Creates the fields of a command, with the meaning of the data that it advertises.
    init(_ command: any HCICommand) {
        self.init(reflecting: command)
        // Data that begin in an earlier command begin within a structure.
        guard let own = command as? any OwnAdvertising, own.isBeginning else { return }
        append("advertising", .fields(DecodedFields(partOf: AdvertisingData(own.ownData))))
    }

    /// Creates the fields of a frame, with its octets if it has no layer of its own.
    init(_ frame: L2CAPFrame) {
        self = ["channel": .name(frame.channel), "octets": .number(frame.payload.count)]
        switch frame.channel {
        case .att, .securityManager, .leSignaling: break
        default: append("data", .octets(frame.payload))
        }
    }

    /// Creates the fields of isochronous data: those of the SDU are in its first fragment (Core Specification 5.4, Vol
    /// 4, Part E, 5.4.5).
    init(_ packet: ISOPacket) {
        let boundaries = ["first", "continuing", "complete", "last"]
        let boundary = Int(packet.flags & 0b11)
        self = [
            "connection": .number(Int(packet.handle.rawValue)), "boundary": .text(boundaries[boundary]),
        ]
        var reader = ByteReader(packet.data.span, of: "ISO Data")
        if packet.flags & 0b100 != 0, let stamp = try? reader.u32("Time_Stamp") {
            append("timeStamp", .described(.number(Int(stamp)), as: "\(stamp) µs"))
        }
        var ahead = reader
        if boundary == 0 || boundary == 2, let sequence = try? ahead.u16("Packet_Sequence_Number"),
            let length = try? ahead.u16("ISO_SDU_Length")
        {
            reader = ahead
            append("sequence", .number(Int(sequence)))
            append("sduLength", .number(Int(length & 0x0fff)))
            let words = ["valid", "possiblyInvalid", "lost", "reserved"]
            let status = Int(length >> 14)
            append("status", .described(.number(status), as: words[status]))
        }
        append("data", .octets(packet.data.suffix(reader.remaining)))
    }
}

extension LEExtendedAdvertisingReports.Report {
    /// Whether the data of `last`, of the same advertising set, go on with this report.
    fileprivate func continues(_ last: Self?) -> Bool {
        guard let last else { return false }
        return last.type.dataStatus == .moreToCome && last.address == address && last.sid == sid
    }
}

extension HCIEvent {
    /// What is wrong with the advertising data that the event reports. Those of extended packets can be fragments, so
    /// only legacy packets are checked.
    fileprivate var problemOfReports: String? {
        var problems: [String] = []
        switch self {
        case .leMeta(.advertisingReports(let event)):
            for report in event.reports { DecodedLayer.problem(of: report.data).map { problems.append($0) } }
        case .leMeta(.extendedAdvertisingReports(let event)):
            for report in event.reports where report.type.contains(.legacy) {
                DecodedLayer.problem(of: report.data).map { problems.append($0) }
            }
        default: break
        }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }
}
