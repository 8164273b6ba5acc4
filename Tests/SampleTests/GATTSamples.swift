import BLECore
import GATT
import GATTClient
import GATTServer

/// Samples of the module GATT.
struct GATTSamples {
    let transport: Transport

    func ask(over connection: inout GATTConnection) {
        // Sources/GATT/ClientSession.swift
        let ticket = connection.session.run(ReadLongValue(0x0003))
        // In the loop that moves the connection's events and frames:
        while let event = connection.session.nextEvent() {
            if case .finished(ticket.id, let outcome) = event { print(outcome.result(of: ticket)) }
        }
        // .
    }

    func drive(
        _ connection: inout GATTConnection, _ server: inout GATTServer, frame: Span<UInt8>, now: Instant,
        output: inout OutputSpan<UInt8>
    ) {
        // Sources/GATT/GATTConnection.swift
        connection.receive(frame, at: now)
        var isDone = false
        while !isDone {
            while let event = connection.nextEvent(serving: &server) { handle(event) }  // of the link
            isDone = true
            while let event = connection.session.nextEvent() {
                handle(event)  // of the client's role
                isDone = false
            }
        }
        while let event = server.nextEvent() { handle(event) }  // what clients did
        while connection.nextFrame(into: &output, at: now) { transport.send(output) }
        // .
    }
}
