import BLECore
import HCISocket

/// An event of `serve`: an action of a central, or of the server for a central.
struct ServerEvent: Event {
    var central: DeviceAddress
    var what: What
    /// The time of the event, by the system's clock.
    var time = Timestamp.now

    enum What: Sendable {
        /// A link was established, with these parameters.
        case connected(LinkParameters)
        /// A link has other parameters now.
        case parameters(LinkParameters)
        /// A link ended: the HCI reason if it is known, otherwise perhaps an errno, and why this host ended it.
        case disconnected(reason: UInt8?, errno: Int32?, text: String, cause: String? = nil)
        /// A pairing failed, or was refused by this host: the reason in Pairing Failed if there is one, and text.
        case pairingFailed(reason: UInt8?, isRefused: Bool, text: String)
        /// The ATT_MTU was agreed on.
        case mtu(Int)
        /// A value was read.
        case read(Access)
        /// A value was written.
        case write(Access, WriteKind)
        /// A write without response was dropped. With `limit`, there was no room, because at most so many octets
        /// wait for the program. Without it, the server was ending.
        case dropped(Access, WriteKind, limit: Int?)
        /// A write without response that was taken, as a `write` before has reported, did not reach its
        /// program, because the server ended.
        case undelivered(Access, WriteKind)
        /// A read or write was rejected: the request, and the number and text of the error.
        case refused(Access, request: String, code: UInt8, text: String)
        /// The central has subscribed to a characteristic.
        case subscribed(Access, indications: Bool)
        /// The central has unsubscribed.
        case unsubscribed(Access)
        /// A value was sent.
        case notified(Access)
        /// The central confirmed an indication.
        case confirmed(Access)
        /// The link's security changed.
        case security(level: String, keySize: Int, isBonded: Bool)
    }

    struct Access: Hashable, Sendable {
        var handle: AttributeHandle
        /// The attribute's type, or nil if no attribute has the handle, in which case the access is always
        /// rejected.
        var uuid: BluetoothUUID?
        /// The value, for reads, writes and notifications.
        var value: [UInt8]?
    }

    /// The kind of ATT request that wrote the value.
    enum WriteKind: String, Hashable, Sendable {
        case request, command, prepared, signed
    }

    /// The negotiated parameters of a link; nil if the kernel does not report them.
    struct LinkParameters: Hashable, Sendable {
        var interval: Duration?
        var latency: Int?
        var timeout: Duration?
        /// `1m`, `2m` or `coded`; both PHYs, as in `2m/1m`, if those of the two directions differ.
        var phy: String?
        var mtu: Int?
        /// The maximum lengths of link-layer packets in both directions.
        var dataLength: DataLength?

        /// The maximum lengths of link-layer packets, in octets.
        struct DataLength: Hashable, Sendable {
            /// The length of packets that this host sends.
            var transmit: Int
            /// The length of packets that the peer sends.
            var receive: Int
        }
    }

    var json: JSONValue {
        let (name, members) = parts
        return .object(
            [
                .init("event", JSONValue(name)), .init("central", JSONValue(central)),
                .init("addressType", JSONValue(typeOf: central)),
            ] + members + [.init("time", JSONValue("\(time)"))])
    }

    func lines(colored: Bool) -> [String] {
        let moment = Style.dim("\(time)", when: colored)
        let head = "\(Style.cyan(central.text, when: colored)) \(Style.bold(parts.name, when: colored))"
        return [([moment, head] + words).joined(separator: "  ")]
    }

    /// The words after the event's name in text output.
    private var words: [String] {
        switch what {
        case .connected(let parameters), .parameters(let parameters): parameters.words
        case .disconnected(_, _, let text, let cause):
            [text.printable + (cause.map { ": \($0.printable)" } ?? "")]
        case .pairingFailed(_, _, let text): [text]
        case .mtu(let mtu): ["\(mtu) octets"]
        case .read(let access), .notified(let access): [access.text]
        case .write(let access, let kind): [access.text] + (kind == .request ? [] : [kind.rawValue])
        case .dropped(let access, let kind, let limit):
            [
                access.text, kind.rawValue,
                limit.map { "\($0) octets may wait for its program" } ?? "the server is ending",
            ]
        case .undelivered(let access, let kind):
            [access.text, kind.rawValue, "its program did not receive it before the end"]
        case .refused(let access, let request, _, let text): [access.text, "\(request): \(text)"]
        case .subscribed(let access, let indications):
            [access.text, indications ? "indication" : "notification"]
        case .unsubscribed(let access), .confirmed(let access): [access.text]
        case .security(let level, let keySize, let isBonded):
            ["\(level)", "key of \(keySize) octets"] + (isBonded ? ["bonded"] : [])
        }
    }

    private var parts: (name: String, members: [JSONValue.Member]) {
        switch what {
        case .connected(let parameters): ("connected", parameters.members)
        case .parameters(let parameters): ("parameters", parameters.members)
        case .disconnected(let reason, let errno, let text, let cause):
            (
                "disconnected",
                [
                    .init("reason", JSONValue(reason)), .init("errno", JSONValue(errno)),
                    .init("reasonText", JSONValue(text)), .init("cause", JSONValue(cause)),
                ]
            )
        case .pairingFailed(let reason, let isRefused, let text):
            (
                "pairingFailed",
                [
                    .init("refused", JSONValue(isRefused)), .init("reason", JSONValue(reason)),
                    .init("reasonText", JSONValue(text)),
                ]
            )
        case .mtu(let mtu): ("mtu", [.init("mtu", JSONValue(mtu))])
        case .read(let access): ("read", access.members)
        case .write(let access, let kind):
            ("write", access.members + [.init("type", JSONValue(kind.rawValue))])
        case .dropped(let access, let kind, let limit):
            (
                "dropped",
                access.members + [
                    .init("type", JSONValue(kind.rawValue)),
                    .init("limit", limit.map { JSONValue($0) } ?? .null),
                ]
            )
        case .undelivered(let access, let kind):
            ("undelivered", access.members + [.init("type", JSONValue(kind.rawValue))])
        case .refused(let access, let request, let code, let text):
            (
                "refused",
                access.members + [
                    .init("request", JSONValue(request)), .init("error", JSONValue(code)),
                    .init("errorText", JSONValue(text)),
                ]
            )
        case .subscribed(let access, let indications):
            ("subscribed", access.members + [.init("type", indications ? "indication" : "notification")])
        case .unsubscribed(let access): ("unsubscribed", access.members)
        case .notified(let access): ("notified", access.members)
        case .confirmed(let access): ("confirmed", access.members)
        case .security(let level, let keySize, let isBonded):
            (
                "security",
                [
                    .init("level", JSONValue(level)), .init("keySize", JSONValue(keySize)),
                    .init("bonded", JSONValue(isBonded)),
                ]
            )
        }
    }
}

extension ServerEvent.Access {
    /// The access in text output: `2a19 Battery Level  0x0012 = 87 %`. An empty or long value is shown by its
    /// length only; JSON output has all of it.
    fileprivate var text: String {
        guard let uuid else { return "\(handle)" }
        let title = (["\(uuid)"] + (Names.attribute(uuid).map { [$0] } ?? [])).joined(separator: " ")
        let shown = value.map { value in
            value.isEmpty || value.count > 64
                ? " = \(value.count) octets" : " = \(ValueFormat.auto.text(value, type: ValueType(of: uuid)))"
        }
        return "\(title)  \(handle)\(shown ?? "")"
    }

    fileprivate var members: [JSONValue.Member] {
        [.init("handle", JSONValue(handle)), .init("uuid", JSONValue(uuid))]
            + (value.map { [.init("value", JSONValue(hex: $0))] } ?? [])
    }
}

extension ServerEvent.LinkParameters {
    /// The parameters with units, for text output.
    var words: [String] {
        [
            interval.map { "interval \($0.text)" }, latency.map { "latency \($0)" },
            timeout.map { "timeout \($0.text)" }, phy.map { "phy \($0)" }, mtu.map { "mtu \($0)" },
            dataLength.map { "data length \($0.transmit) octets out, \($0.receive) in" },
        ].compactMap { $0 }
    }

    var members: [JSONValue.Member] {
        [
            .init("interval", JSONValue(milliseconds: interval)), .init("latency", JSONValue(latency)),
            .init("timeout", JSONValue(milliseconds: timeout)), .init("phy", JSONValue(phy)),
            .init("mtu", JSONValue(mtu)),
            .init(
                "dataLength",
                dataLength.map {
                    ["transmit": JSONValue($0.transmit), "receive": JSONValue($0.receive)]
                } ?? .null),
        ]
    }
}
