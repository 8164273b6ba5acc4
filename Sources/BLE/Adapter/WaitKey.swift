import GATT
import HCI

/// What a task waits for. What cancelling the task means is in `Adapter.cancelled`.
enum WaitKey: Hashable, Sendable {
    /// The answer to a command.
    case answer(CommandQueue.Ticket)
    /// The end of an operation of the GATT client.
    case operation(TicketID)
    /// The delivery of an update to all its subscribers.
    case update(UInt64)
    case connection(ConnectTicket)
    /// The end of a link, or its user's departure from it. Several tasks can wait for the same.
    case linkEnd(LinkID, LinkUser?, number: UInt64)
    /// The departure of the packets that are queued for a link.
    case departure(LinkID, number: UInt64)
    /// The end of a procedure of the link layer.
    case procedure(LinkID, number: UInt64)
    /// The end of a link's pairing or encryption.
    case security(LinkID)
    /// The turn in a queue of a link.
    case turn(LinkID, number: UInt64)
    /// The rest of the radio.
    case rest(number: UInt64)
    /// The kernel's report that the adapter is on.
    case power(number: UInt64)
    /// The first packets of an advertisement.
    case advertisement(AdvertisingID)
    case advertisingUpdate(AdvertisingUpdateID)
    /// The end of an advertisement. Several tasks can wait for the same.
    case advertisingEnd(AdvertisingID, number: UInt64)
    /// The end of an advertisement that was stopped, on the air.
    case offAir(AdvertisingID, number: UInt64)

    /// A phrase for messages about a test that stands still.
    var phrase: String {
        switch self {
        case .answer: "the answer to a command"
        case .operation: "the end of a GATT operation"
        case .update: "values to be sent to subscribers"
        case .connection: "a connection"
        case .linkEnd: "the end of a link"
        case .departure: "the departure of packets"
        case .procedure: "the end of a link procedure"
        case .security: "the security of a link"
        case .turn: "its turn on a link"
        case .rest: "the end of all work"
        case .power: "power"
        case .advertisement: "an advertisement to begin"
        case .advertisingUpdate: "an advertisement to change"
        case .advertisingEnd: "the end of an advertisement"
        case .offAir: "an advertisement to leave the air"
        }
    }
}

/// A wait, with the type of its result.
struct Wait<Success: Sendable>: Sendable {
    let key: WaitKey

    private init(_ key: WaitKey) { self.key = key }
}

extension Wait where Success == [UInt8] {
    static func answer(_ ticket: CommandQueue.Ticket) -> Self { Self(.answer(ticket)) }
}

extension Wait where Success == Outcome<GATTFailure> {
    static func operation(_ ticket: TicketID) -> Self { Self(.operation(ticket)) }
}

extension Wait where Success == LinkUser {
    static func connection(_ ticket: ConnectTicket) -> Self { Self(.connection(ticket)) }
}

extension Wait where Success == DisconnectReason {
    static func linkEnd(_ link: LinkID, _ user: LinkUser?, number: UInt64) -> Self {
        Self(.linkEnd(link, user, number: number))
    }
}

extension Wait where Success == Bool {
    static func departure(_ link: LinkID, number: UInt64) -> Self { Self(.departure(link, number: number)) }
}

extension Wait where Success == AdvertisingEnd {
    static func advertisingEnd(_ id: AdvertisingID, number: UInt64) -> Self {
        Self(.advertisingEnd(id, number: number))
    }
}

extension Wait where Success == Void {
    static func update(_ number: UInt64) -> Self { Self(.update(number)) }
    static func procedure(_ link: LinkID, number: UInt64) -> Self { Self(.procedure(link, number: number)) }
    static func security(_ link: LinkID) -> Self { Self(.security(link)) }
    static func turn(_ link: LinkID, number: UInt64) -> Self { Self(.turn(link, number: number)) }
    static func rest(number: UInt64) -> Self { Self(.rest(number: number)) }
    static func power(number: UInt64) -> Self { Self(.power(number: number)) }
    static func advertisement(_ id: AdvertisingID) -> Self { Self(.advertisement(id)) }
    static func advertisingUpdate(_ id: AdvertisingUpdateID) -> Self { Self(.advertisingUpdate(id)) }
    static func offAir(_ id: AdvertisingID, number: UInt64) -> Self { Self(.offAir(id, number: number)) }
}

/// Several waits, with the type of their results.
struct WaitGroup<Success: Sendable> {
    let contains: (WaitKey) -> Bool

    private init(_ contains: @escaping (WaitKey) -> Bool) { self.contains = contains }
}

extension WaitGroup where Success == [UInt8] {
    static var answers: Self { Self { if case .answer = $0 { true } else { false } } }
}

extension WaitGroup where Success == LinkUser {
    static var connections: Self { Self { if case .connection = $0 { true } else { false } } }
}

extension WaitGroup where Success == Outcome<GATTFailure> {
    static func operations(on link: LinkID) -> Self {
        Self { if case .operation(let ticket) = $0 { ticket.link == link.number } else { false } }
    }
}

extension WaitGroup where Success == DisconnectReason {
    static func ends(of link: LinkID) -> Self {
        Self { if case .linkEnd(link, _, _) = $0 { true } else { false } }
    }

    static func ends(for user: LinkUser) -> Self {
        Self { if case .linkEnd(_, user, _) = $0 { true } else { false } }
    }
}

extension WaitGroup where Success == Bool {
    static func departures(on link: LinkID) -> Self {
        Self { if case .departure(link, _) = $0 { true } else { false } }
    }
}

extension WaitGroup where Success == AdvertisingEnd {
    static func ends(of advertisement: AdvertisingID) -> Self {
        Self { if case .advertisingEnd(advertisement, _) = $0 { true } else { false } }
    }
}

extension WaitGroup where Success == Void {
    static func procedures(of link: LinkID) -> Self {
        Self { if case .procedure(link, _) = $0 { true } else { false } }
    }

    static var rests: Self { Self { if case .rest = $0 { true } else { false } } }
    static var powers: Self { Self { if case .power = $0 { true } else { false } } }
    static var offAir: Self { Self { if case .offAir = $0 { true } else { false } } }

    static func offAir(_ id: AdvertisingID) -> Self {
        Self { if case .offAir(id, _) = $0 { true } else { false } }
    }
}
