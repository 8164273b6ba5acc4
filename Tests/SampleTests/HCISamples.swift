import BLECore

@testable import HCI

/// Samples of the module HCI.
struct HCISamples {
    struct Disconnection {
        var connection: ConnectionHandle
        var reason: HCIStatus

        // Sources/HCI/Coding/HCILayout.swift
        static let layout = HCILayout("Connection_Handle, Reason", Self.init) { ($0.connection, $0.reason) }
        // .
    }

    func visitReports(of event: HCIEventPacket) throws {
        // Sources/HCI/Events/AdvertisingReport.swift
        try AdvertisingReport.forEach(in: event.parameters.span) { report in print(report) }
        // .
    }

    func assemble(_ report: AdvertisingReport, assembler: inout ReportAssembler) {
        // Sources/HCI/Events/ReportAssembler.swift
        for whole in assembler.take(report) { print(whole) }
        // .
    }

    func read(_ reader: inout ByteReader) throws {
        // Sources/HCI/Packets/ACLPacket.swift
        let header = try ACLHeader(decoding: &reader)
        let data = try reader.span(header.dataLength, "Data")
        // .
        handle(data.count)
    }

    func feed(_ chunk: Span<UInt8>, to framer: inout H4Framer, receive: (Span<UInt8>) -> Void) throws {
        // Sources/HCI/Transport/H4Framer.swift
        try framer.feed(chunk) { packet in receive(packet) }
        // .
    }
}
