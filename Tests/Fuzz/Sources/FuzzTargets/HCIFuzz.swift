import BLECore
import HCI

/// A packet that can be decoded encodes to the same octets except for reserved bits. Its event or command is
/// decoded or fails without a trap. It encodes to the same parameters except for the reserved bits above a
/// connection handle. The reports of an advertising event are those that the event contains.
public func fuzzHCI(_ bytes: Span<UInt8>) {
    guard let packet = try? HCIPacket(bytes) else { return }
    var same = [UInt8](copying: bytes)
    // The two bits above the length of isochronous data are reserved and ignored.
    if case .iso = packet { same[4] &= 0x3f }
    precondition(packet.encoded == same)
    switch packet {
    case .command(let raw):
        guard let command = try? raw.decoded() else { return }
        precondition(isSame(command.encoded, raw.parameters))
    case .event(let raw):
        let event = try? HCIEvent(raw)
        if let event {
            precondition(isSame(event.packet.parameters, raw.parameters))
            precondition((try? HCIEvent(event.packet)) == event)
        }
        fuzzReports(raw, event)
        if case .commandComplete(let complete) = event, let returned = try? complete.returned() {
            precondition(isSame(returned.encoded, Array(complete.returnParameters.dropFirst())))
        }
    case .acl, .synchronous, .iso: break
    }
}

/// Checks that the visitor's reports are those of the event. Of a malformed event, it may return the reports
/// before the error.
private func fuzzReports(_ raw: HCIEventPacket, _ event: HCIEvent?) {
    guard raw.code == .leMeta else { return }
    var reports: [AdvertisingReport] = []
    let isWhole = (try? AdvertisingReport.forEach(in: raw.parameters.span) { reports.append($0) }) != nil
    switch event {
    case .leMeta(.advertisingReports(let event)):
        precondition(isWhole && reports == event.reports.map(AdvertisingReport.init))
    case .leMeta(.directedAdvertisingReports(let event)):
        precondition(isWhole && reports == event.reports.map(AdvertisingReport.init))
    case .leMeta(.extendedAdvertisingReports(let event)):
        precondition(isWhole && reports == event.reports.map(AdvertisingReport.init))
    case .some: precondition(isWhole && reports.isEmpty)
    case nil: break
    }
}

private func isSame(_ encoded: [UInt8], _ bytes: [UInt8]) -> Bool {
    encoded.count == bytes.count && zip(encoded, bytes).allSatisfy { $0 == $1 || $0 == $1 & 0x0f }
}
