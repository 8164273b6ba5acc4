import BLECore
import HCI
import HCISocket

/// The link layer of a link to a `Peripheral` or a `Central`: its connection parameters, PHYs and data lengths,
/// the strength of the signal, and the peer's controller.
///
/// ```swift
/// let connection = peripheral.connection
/// let now = try await connection.setParameters(.init(interval: .milliseconds(30) ... .milliseconds(50)))
/// print(now.interval as Any, try await connection.rssi() as Any)
/// ```
/// A procedure with the peer's controller takes at most 40 s, the time limit of the link layer (Core
/// Specification 5.4, Vol 6, Part B, 5.2), and then fails with `BLEError.timedOut`. A command to this host's
/// controller takes at most 2 s, or 10 s if the controller is on the virtual air. The procedures of a link run
/// one after the other. On kernel adapters commands bypass the kernel, with the connection handle that the kernel
/// reports for the link.
public struct Connection: Sendable {
    let adapter: Adapter
    let link: LinkID

    /// The current parameters of the link. Throws when the link has ended.
    public var parameters: LinkParameters {
        get async throws(BLEError) { try await adapter.parameters(of: link) }
    }

    /// Returns a stream of the link's parameters, with a value for each change. When the consumer is slow, the
    /// oldest of 16 waiting values are dropped and counted. The stream ends with the link, by
    /// `BLEError.disconnected`.
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
    /// Requests other connection parameters. As central this host changes them. As peripheral it asks the
    /// central: through the link layer if both controllers support the Connection Parameters Request
    /// procedure, else by L2CAP signaling. Returns the parameters that are then in effect, which can differ
    /// from the requested ones because the central decides.
    ///
    /// Throws `BLEError.outOfRange`, `timeOutOfRange` or `invalidRequest(.supervisionTimeoutTooShort)`, and sends
    /// nothing, when a parameter is out of range; throws `parametersRefused` when the peer refuses.
    @discardableResult
    public func setParameters(_ parameters: ConnectionParameters) async throws(BLEError) -> LinkParameters {
        try await adapter.setParameters(parameters, of: link)
    }

    /// Sets the PHYs on which the link should send and receive; nil leaves the choice to the controllers.
    /// Returns the parameters that are then in effect, whose PHYs can differ from the requested ones. Throws
    /// `BLEError.hci` with Unsupported Remote Feature when the peer supports LE 1M only.
    @discardableResult
    public func setPHYs(
        transmit: Set<PHY>?, receive: Set<PHY>?, coding: PHYCoding = .any
    ) async throws(BLEError) -> LinkParameters {
        try await adapter.setPHYs(transmit: transmit, receive: receive, coding, of: link)
    }

    /// Sets the size of the largest packets that this host may send: `octets` of payload, 27 to 251, that take at
    /// most `time` on air, 328 us to 17,040 us. A `time` of nil is that of the payload at 1 Mbit/s, or on LE Coded
    /// at 125 kbit/s. Returns when the controller has accepted the command; `changes()` yields a value when the
    /// controllers have agreed on other lengths.
    public func setDataLength(_ octets: Int, time: Duration? = nil) async throws(BLEError) {
        try await adapter.setDataLength(octets, time, of: link)
    }
}

// MARK: - What can be read

extension Connection {
    /// Reads the PHYs of the link from the controller.
    public func phys() async throws(BLEError) -> LinkParameters.PHYs { try await adapter.readPHYs(of: link) }

    /// Reads the signal strength of the peer's packets, in dBm, -127 to 20; nil when the controller does not
    /// know it.
    public func rssi() async throws(BLEError) -> Int? {
        let value = try await adapter.ask(link) { ReadRSSI(connection: $0) }.value
        return value == 127 ? nil : Int(value)
    }

    /// Reads the current and the maximum power with which this host sends, in dBm (Core Specification 5.4,
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

    /// Returns the version and manufacturer of the peer's controller. The peer is asked once per link.
    public func remoteVersion() async throws(BLEError) -> RemoteVersion {
        try await adapter.remoteVersion(of: link)
    }

    /// Returns the features that the peer's controller uses on this link. The peer is asked once per link.
    public func remoteFeatures() async throws(BLEError) -> LEFeatures {
        try await adapter.remoteFeatures(of: link)
    }
}

extension Peripheral {
    /// The link layer of the link: parameters, PHYs, signal strength.
    public var connection: Connection { Connection(adapter: adapter, link: link) }
}

extension PeripheralManager {
    /// Returns the link layer of the link to a central.
    public func connection(of central: Central) -> Connection {
        Connection(adapter: adapter, link: central.link)
    }

    /// Ends the link to a central, for all its users. Returns when it is gone.
    public func disconnect(_ central: Central, reason: DisconnectCause = .userTerminated) async {
        await adapter.endLink(central.link, reason)
    }
}

extension Adapter {
    /// Sets the policy for connection parameters that peers request from now on.
    public func setParameterRequestPolicy(_ policy: ParameterRequestPolicy) { parameterRequests = policy }

    /// Sets the data channels that this host knows to be good, at least two. Links on which this host is central
    /// do not use the others (Core Specification 5.4, Vol 4, Part E, 7.8.19).
    public func setHostChannels(_ channels: ChannelMap) async throws(BLEError) {
        let good = channels.rawValue & ChannelMap.all.rawValue
        guard good.nonzeroBitCount >= 2 else {
            throw .outOfRange(.dataChannels, allowed: 2...37, value: good.nonzeroBitCount)
        }
        _ = try await send(LESetHostChannelClassification(channels: ChannelMap(rawValue: good)))
    }
}
