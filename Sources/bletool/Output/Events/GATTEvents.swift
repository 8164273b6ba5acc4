import BLECore
import GATTClient

/// The value that `gatt … read` has read.
struct ValueEvent: Event {
    /// The handles that were read: one, or with `--multiple` several if their values are joined.
    var handles: [AttributeHandle]
    /// The type of the attribute; nil for several.
    var uuid: BluetoothUUID?
    /// The value in text output.
    var text: String
    /// The value in JSON output.
    var value: JSONValue

    /// Creates the event, with the value in this format.
    init(
        handles: [AttributeHandle], uuid: BluetoothUUID?, value: [UInt8], format: ValueFormat,
        type: ValueType? = nil
    ) {
        self.handles = handles
        self.uuid = uuid
        self.text = format.text(value, type: type)
        self.value = format.jsonValue(value, type: type)
    }

    var json: JSONValue {
        guard handles.count == 1, let handle = handles.first else {
            return ["event": "value", "handles": .array(handles.map { JSONValue($0) }), "value": value]
        }
        return ["event": "value", "handle": JSONValue(handle), "uuid": JSONValue(uuid), "value": value]
    }

    func lines(colored: Bool) -> [String] { [text] }
}

/// `gatt … read --to`: a value was written to a file.
struct SavedValueEvent: Event {
    var handle: AttributeHandle
    /// The type of the attribute, where it is known.
    var uuid: BluetoothUUID?
    /// The number of octets that were saved.
    var count: Int
    var file: String

    var json: JSONValue {
        [
            "event": "saved", "handle": JSONValue(handle), "uuid": JSONValue(uuid),
            "octets": JSONValue(count),
            "file": .string(file),
        ]
    }

    func lines(colored: Bool) -> [String] {
        ["read \(count == 1 ? "1 octet" : "\(count) octets") into \(file.printable)"]
    }
}

/// `gatt … notify`: values arrived faster than the lines were read.
struct ValueLossEvent: Event {
    /// The characteristic that sent them; nil if it can be one of several.
    var characteristic: (handle: AttributeHandle, uuid: BluetoothUUID)?
    /// The number of values that are missing before the next one.
    var count: Int

    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("event", "loss")]
        if let (handle, uuid) = characteristic {
            members += [.init("handle", JSONValue(handle)), .init("uuid", JSONValue(uuid))]
        }
        return .object(members + [.init("dropped", JSONValue(count))])
    }

    func lines(colored: Bool) -> [String] {
        let source = characteristic.map { "\($0.uuid): " } ?? ""
        return ["\(source)\(count == 1 ? "1 value" : "\(count) values") came too fast to be shown"]
    }
}

/// `gatt … notify`: a value that the server sent by itself.
struct NotificationEvent: Event {
    var received: ReceivedValue
    var uuid: BluetoothUUID
    /// The value in text output.
    var text: String
    /// The value in JSON output.
    var value: JSONValue
    var time: Timestamp

    /// Creates the event, with the value in this format.
    init(
        _ received: ReceivedValue, uuid: BluetoothUUID, time: Timestamp, format: ValueFormat,
        type: ValueType? = nil
    ) {
        self.received = received
        self.uuid = uuid
        self.time = time
        self.text = format.text(received.value, type: type)
        self.value = format.jsonValue(received.value, type: type)
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("event", received.isIndication ? "indication" : "notification"),
            .init("handle", JSONValue(received.handle)), .init("uuid", JSONValue(uuid)),
            .init("value", value), .init("time", JSONValue(time.description)),
        ]
        if let length = received.length { members.append(.init("length", JSONValue(length))) }
        return .object(members)
    }

    func lines(colored: Bool) -> [String] {
        let end = received.length.map { "  \(received.value.count) of \($0) octets" } ?? ""
        return [
            "\(Style.dim(time.description, when: colored))  \(Style.cyan("\(uuid)", when: colored))  \(text)\(end)"
        ]
    }
}

/// `gatt … write`: the value was written, as far as the kind of write confirms that.
struct WrittenEvent: Event {
    var handle: AttributeHandle
    var value: [UInt8]
    /// Whether the device has confirmed the write. Otherwise it was sent, and nothing more is known.
    var isAcknowledged = true

    var json: JSONValue {
        [
            "event": "written", "handle": JSONValue(handle), "octets": JSONValue(value.count),
            "acknowledged": JSONValue(isAcknowledged),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let count = value.count == 1 ? "1 octet" : "\(value.count) octets"
        return [
            "\(isAcknowledged ? "wrote" : "sent") \(value.isEmpty || value.count > 32 ? count : "\(value.hex) (\(count))") to \(handle)"
        ]
    }
}
