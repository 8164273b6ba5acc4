import ATT
import BLE

/// Samples of the module ATT.
struct ATTSamples {
    let transport: Transport

    func drive(
        _ bearer: inout ATTBearer, frame: Span<UInt8>, now: Instant, output: inout OutputSpan<UInt8>,
        answer: (ATTRequest) -> ATTResponse
    ) throws {
        // Sources/ATT/ATTBearer.swift
        bearer.receive(frame, at: now)
        while let event = bearer.nextEvent() {
            if case .request(let request) = event { try bearer.respond(answer(request)) }
        }
        while bearer.nextFrame(into: &output, at: now) { transport.send(output) }
        // .
    }

    @Expressions func sign(key: ATTSigningKey) {
        // Sources/ATT/ATTSigningKey.swift
        let command = key.sign(0x0012, value: [1], counter: 7)
        key.verifies(command)  // true, on the other side
        // .
    }
}
