import ATT
import BLECore
import GATT
import GATTClient
import GATTServer

extension AttributeHandle {
    /// The handle in the form `0003`.
    var short: String { rawValue.hex }

    init?(hex: some StringProtocol) {
        guard hex.count == 4, let number = UInt16(hex, radix: 16) else { return nil }
        self.init(number)
    }
}

/// Describes an event of a server. Returns nil for reads and refusals, which the responses show, and for
/// supported features.
func describe(_ event: GATTServerEvent) -> String? {
    switch event {
    case .read, .refused: nil
    case .signed(_, let next): "signed, next counter \(next)"
    case .write(_, let write, let kind):
        "written \(pair(write.handle, write.value)) by \(kind.rawValue)"
    case .subscribed(_, let handle, _, let configuration):
        "subscribed \(handle.short) \(configuration.rawValue)"
    case .unsubscribed(_, let handle, _): "unsubscribed \(handle.short)"
    case .features: nil
    }
}

/// Describes an event of a connection. Returns nil for sent PDUs, which the dialogue shows.
func describe(_ event: GATTConnection.Event) -> String? {
    switch event {
    case .sent, .delivered(_, .complete), .changed: nil
    case .delivered(_, .refused(let error)): "failed: \(error)"
    case .delivered(_, .closed(let reason)): "failed: \(reason)"
    case .confirmed: "confirmed"
    case .overdue: "overdue"
    case .mtu(let mtu): "mtu \(mtu)"
    case .closed(let reason): "closed: \(reason)"
    }
}

/// Describes an event of the client's role, except the ends of operations.
func describe(_ event: ClientSession.Event) -> [String]? {
    switch event {
    case .value(let value, _):
        ["\(value.isIndication ? "indicated" : "notified") \(pair(value.handle, value.value))"]
    case .databaseChanged(let range): ["changed \(range.start.short)-\(range.end.short)"]
    default: nil
    }
}

/// Returns `0003 0102`, or `0003` if the value is empty.
private func pair(_ handle: AttributeHandle, _ value: some Collection<UInt8>) -> String {
    value.isEmpty ? handle.short : "\(handle.short) \(value.hex)"
}

/// Describes the result of a procedure, with a line for each element.
func describe(_ output: Any) -> [String] {
    switch output {
    case let services as [RemoteService]: services.flatMap(describe)
    case let database as RemoteDatabase: database.services.flatMap(describe)
    case let includes as [RemoteInclude]: includes.map(describe)
    case let characteristics as [RemoteCharacteristic]: characteristics.flatMap(describe)
    case let descriptors as [RemoteDescriptor]: descriptors.map(describe)
    case let value as [UInt8]: ["value \(value.hex)"]
    case let values as [RemoteValue]: values.map(describe)
    default: ["done"]
    }
}

private func describe(_ service: RemoteService) -> [String] {
    let kind = service.isPrimary ? "service" : "secondary service"
    let head = "\(kind) \(service.handle.short)-\(service.endHandle.short) \(service.uuid)"
    return [head] + service.includes.map(describe) + service.characteristics.flatMap(describe)
}

private func describe(_ include: RemoteInclude) -> String {
    let range = "\(include.serviceHandle.short)-\(include.endHandle.short)"
    return "include \(include.handle.short) \(range) \(include.uuid)"
}

private func describe(_ characteristic: RemoteCharacteristic) -> [String] {
    let range = "\(characteristic.handle.short)-\(characteristic.endHandle.short)"
    let value = "value \(characteristic.valueHandle.short) \(characteristic.properties)"
    return ["characteristic \(range) \(characteristic.uuid) \(value)"]
        + characteristic.descriptors.map(describe)
}

private func describe(_ descriptor: RemoteDescriptor) -> String {
    "descriptor \(descriptor.handle.short) \(descriptor.uuid)"
}

private func describe(_ value: RemoteValue) -> String {
    let cut = value.isTruncated ? ", of \(value.length ?? 0)" : ""
    return "value \(pair(value.handle, value.value))\(cut)"
}

/// Describes the error of a procedure.
func describe(_ error: GATTClientError) -> String {
    switch error {
    case .att(let refusal): "refused \(refusal.code.rawValue.hex) at \(refusal.handle.short)"
    case .limit(let what, _, _): "limit: \(what)"
    case .misbehaving(_, let how):
        switch how {
        case .unexpectedResponse: "misbehaving: another response"
        case .malformed: "misbehaving: malformed"
        case .unexpectedHandle: "misbehaving: handle"
        case .badGroup: "misbehaving: group"
        case .badValueHandle: "misbehaving: value handle"
        case .orphan: "misbehaving: orphan"
        case .overlong: "misbehaving: too long"
        case .wrongCount: "misbehaving: count"
        case .wrongEcho: "misbehaving: echo"
        }
    }
}
