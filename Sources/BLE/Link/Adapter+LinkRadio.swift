import BLECore
import HCI
import HCISocket

/// The PHYs and data lengths of links, and the controllers of their peers.
extension Adapter {
    func parameters(of id: LinkID) throws(BLEError) -> LinkParameters { try link(id).parameters }

    func setPHYs(
        transmit: Set<PHY>?, receive: Set<PHY>?, _ coding: PHYCoding, of id: LinkID
    ) async throws(BLEError) -> LinkParameters {
        let preference = try preference(transmit: transmit, receive: receive)
        try await run(.phys, on: id) {
            LESetPHY(connection: $0, preference: preference, coding: coding)
        }
        return try link(id).parameters
    }

    /// Returns the preference. Throws when it is empty, or names a PHY that the controller does not support.
    func preference(transmit: Set<PHY>?, receive: Set<PHY>?) throws(BLEError) -> PHYPreference {
        guard transmit?.isEmpty != true, receive?.isEmpty != true else { throw .invalidRequest(.noPHY) }
        let wanted = (transmit ?? []).union(receive ?? [])
        if let unknown = wanted.subtracting([.le1M, .le2M, .leCoded]).least {
            throw .invalidRequest(.phy(unknown))
        }
        for (phy, feature) in [(PHY.le2M, LEFeatures.le2MPHY), (.leCoded, .leCodedPHY)]
        where wanted.contains(phy) && !capabilities.features.contains(feature) {
            throw .adapter(.unsupported(.phy(phy)))
        }
        return PHYPreference(
            transmit: transmit.map { PHYSet($0) }, receive: receive.map { PHYSet($0) })
    }

    func setDataLength(_ octets: Int, _ time: Duration?, of id: LinkID) async throws(BLEError) {
        guard (27...251).contains(octets) else {
            throw .outOfRange(.dataLength, allowed: 27...251, value: octets)
        }
        let onCoded = try link(id).radio.phys?.transmit == .leCoded
        let time = time?.microseconds ?? DataLength.airTime(of: octets, onCoded: onCoded)
        guard (328...17_040).contains(time) else {
            throw .timeOutOfRange(
                .packetTime, allowed: .microseconds(328) ... .microseconds(17_040), value: .microseconds(time)
            )
        }
        let length = DataLength(octets: UInt16(octets), time: UInt16(time))
        _ = try await ask(id) { LESetDataLength(connection: $0, transmit: length) }
    }

    func readPHYs(of id: LinkID) async throws(BLEError) -> LinkParameters.PHYs {
        note(try await ask(id) { LEReadPHY(connection: $0) })
    }

    @discardableResult
    private func note(_ read: LEReadPHY.ReturnParameters) -> LinkParameters.PHYs {
        let phys = LinkParameters.PHYs(transmit: read.transmit, receive: read.receive)
        changeLink(with: read.connection) { $0.phys = phys }
        return phys
    }

    /// Handles the answer to the question for the PHYs of a new link.
    func physAnswered(_ answer: CommandAnswer, of id: LinkID) {
        guard links[id] != nil, case .done(let octets) = answer,
            let read = try? LEReadPHY.ReturnParameters(octets.span)
        else { return }
        note(read)
    }

    func remoteVersion(of id: LinkID) async throws(BLEError) -> RemoteVersion {
        // If several callers ask, only the first one sends the command.
        try await run(.version, on: id) { ReadRemoteVersionInformation(connection: $0) }
        guard let version = try link(id).remoteVersion else { throw .disconnected(.unknown) }
        return version
    }

    func remoteFeatures(of id: LinkID) async throws(BLEError) -> LEFeatures {
        try await run(.features, on: id) { LEReadRemoteFeatures(connection: $0) }
        guard let features = try link(id).remoteFeatures else { throw .disconnected(.unknown) }
        return features
    }

    /// Yields all changes of a link's parameters to `buffer`.
    func watchParameters(of id: LinkID, into buffer: StreamBuffer<LinkParameters>) {
        do throws(BLEError) {
            let number = try callers(of: id).parameters.add(buffer)
            whenEnded(buffer) { $0.callers.links[id]?.parameters.remove(number) }
        } catch {
            buffer.finish(.failure(error))
        }
    }

    /// Applies what the controller has reported about the link with this handle.
    func changeLink(with handle: ConnectionHandle, _ change: (inout RadioParameters) -> Void) {
        kernelLinks.change(handle, change)
        guard let link = links[handle] else { return }
        let before = link.radio
        change(&link.radio)
        if link.radio != before { noteParameters(of: link) }
    }

    /// Reports the parameters of a link that have changed.
    func noteParameters(of link: Link) {
        if link.role == .peripheral { server.emit(.parameters(Central(link), link.parameters)) }
        callers.links[link.id]?.parameters.emit(link.parameters)
    }
}

extension DataLength {
    /// Returns the air time of a packet of `octets`, in microseconds: at 1 Mbit/s with 14 octets around it;
    /// on LE Coded at 125 kbit/s, 80 us of preamble, 256 us of access address, and the rest at 64 us an
    /// octet, CRC and terms included (Core Specification 5.4, Vol 6, Part B, 4.5.10).
    fileprivate static func airTime(of octets: Int, onCoded: Bool) -> Int {
        onCoded ? 976 + 64 * octets : 8 * (octets + 14)
    }
}

extension Duration {
    /// The number of whole microseconds; fractions are dropped.
    fileprivate var microseconds: Int { Int(clamping: nanoseconds / 1000) }
}
