import BLECore
import HCI
import HCISocket

/// The radio's side of a link: how it keeps time, what it sends on, how strong it arrives, who is at its other
/// end. Of a `Peripheral` as of a `Central`.
///
/// ```swift
/// let connection = peripheral.connection
/// let now = try await connection.setParameters(.init(interval: .milliseconds(30) ... .milliseconds(50)))
/// print(now.interval as Any, try await connection.rssi() as Any)
/// ```
/// What asks the peer's controller takes at most 40 s, its own time limit (Core Specification 5.4, Vol 6, Part B, 5.2),
/// and then fails with `BLEError.timedOut`; what asks this host's takes 2 s, 10 s where that is on the virtual air. A
/// procedure of the link waits for the one before. On kernel adapters commands go to the controller past the kernel, on
/// the handle that it reports of its link.
public struct Connection: Sendable {
    let adapter: Adapter
    let link: LinkID

    /// The link's parameters at present. Throws the link's end.
    public var parameters: LinkParameters {
        get async throws(BLEError) { try await adapter.parameters(of: link) }
    }

    /// What the link is whenever that has changed. Of a slow consumer's waiting values the oldest of 16 are
    /// dropped and counted. Ends with the link, by `BLEError.disconnected`.
    public func changes() -> BoundedStream<LinkParameters> {
        let buffer = StreamBuffer<LinkParameters>(.newest(16))
        adapter.loop.execute { [adapter, link] in
            adapter.assumeIsolated { $0.watchParameters(of: link, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}

// MARK: - What can be changed

extension Connection {
    /// Asks for other connection parameters: a central changes them, a peripheral asks the central, through
    /// the link layer where both controllers have the Connection Parameters Request procedure, else by L2CAP
    /// signaling. Returns what the link is then, which a peripheral's central may have chosen otherwise.
    ///
    /// `BLEError.outOfRange`, `timeOutOfRange` and `invalidRequest(.supervisionTimeoutTooShort)` say what is
    /// out of range, and nothing is sent; `parametersRefused` is the peer's no.
    @discardableResult
    public func setParameters(_ parameters: ConnectionParameters) async throws(BLEError) -> LinkParameters {
        try await adapter.setParameters(parameters, of: link)
    }

    /// Says what the link should send and receive on; nil: whatever the controllers choose. Returns what it is
    /// then, which need not be what was wanted. A peer that knows LE 1M only is `BLEError.hci` with
    /// Unsupported Remote Feature.
    @discardableResult
    public func setPHYs(
        transmit: Set<PHY>?, receive: Set<PHY>?, coding: PHYCoding = .any
    ) async throws(BLEError) -> LinkParameters {
        try await adapter.setPHYs(transmit: transmit, receive: receive, coding, of: link)
    }

    /// Lets packets of up to `octets` octets be sent, 27 to 251, which take at most `time` on air, 328 us to 17,040 us;
    /// nil: as long as they take at 1 Mbit/s, on LE Coded at 125 kbit/s. Returns when the controller has taken it;
    /// `changes()` yields a value when both controllers have agreed on something else than before.
    public func setDataLength(_ octets: Int, time: Duration? = nil) async throws(BLEError) {
        try await adapter.setDataLength(octets, time, of: link)
    }
}

// MARK: - What can be asked

extension Connection {
    /// The physical layers, as the controller knows them.
    public func phys() async throws(BLEError) -> LinkParameters.PHYs { try await adapter.readPHYs(of: link) }

    /// How strong the peer's packets arrive, in dBm, -127 to 20; nil when the controller does not know.
    public func rssi() async throws(BLEError) -> Int? {
        let value = try await adapter.ask(link) { ReadRSSI(connection: $0) }.value
        return value == 127 ? nil : Int(value)
    }

    /// Reads the present and the greatest power with which this host sends, in dBm (Core Specification 5.4,
    /// Vol 4, Part E, 7.3.35). Throws `BLEError` when the link has ended or the controller refuses.
    public func transmitPower() async throws(BLEError) -> TransmitPower {
        let current = try await adapter.ask(link) { ReadTransmitPowerLevel(connection: $0) }
        let most = try await adapter.ask(link) { ReadTransmitPowerLevel(connection: $0, kind: .maximum) }
        return TransmitPower(current: Int(current.value), maximum: Int(most.value))
    }

    /// Reads the data channels that the link uses (Core Specification 5.4, Vol 4, Part E, 7.8.20).
    public func channelMap() async throws(BLEError) -> ChannelMap {
        try await adapter.ask(link) { LEReadChannelMap(connection: $0) }.value
    }

    /// What the peer's controller is. The peer is asked once a link.
    public func remoteVersion() async throws(BLEError) -> RemoteVersion {
        try await adapter.remoteVersion(of: link)
    }

    /// What the peer's controller can do: the features that it uses on this link. It is asked once a link.
    public func remoteFeatures() async throws(BLEError) -> LEFeatures {
        try await adapter.remoteFeatures(of: link)
    }
}

extension Peripheral {
    /// The radio's side of the link.
    public var connection: Connection { Connection(adapter: adapter, link: link) }
}

extension PeripheralManager {
    /// The radio's side of the link to a central.
    public func connection(of central: Central) -> Connection {
        Connection(adapter: adapter, link: central.link)
    }

    /// Ends the link to a central, for all its users. Returns when it is gone.
    public func disconnect(_ central: Central, reason: DisconnectCause = .userTerminated) async {
        await adapter.endLink(central.link, reason)
    }
}

extension Adapter {
    /// Says what becomes of connection parameters that peers ask for from now on.
    public func setParameterRequestPolicy(_ policy: ParameterRequestPolicy) { parameterRequests = policy }

    /// Sends the controller the data channels that this host knows to be good; its links as central leave the others
    /// out (Core Specification 5.4, Vol 4, Part E, 7.8.19). Two at least.
    public func setHostChannels(_ channels: ChannelMap) async throws(BLEError) {
        let good = channels.rawValue & ChannelMap.all.rawValue
        guard good.nonzeroBitCount >= 2 else {
            throw .outOfRange(.dataChannels, allowed: 2...37, value: good.nonzeroBitCount)
        }
        _ = try await send(LESetHostChannelClassification(channels: ChannelMap(rawValue: good)))
    }
}
