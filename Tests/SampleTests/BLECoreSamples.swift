import BLECore

/// Samples of the module BLECore.
struct BLECoreSamples {
    func read(bytes: [UInt8]) throws {
        // Sources/BLECore/ByteReader.swift
        var reader = ByteReader(bytes.span, of: "Exchange MTU Request")
        let opcode = try reader.u8("opcode")
        let mtu = try reader.u16("client MTU")
        try reader.end()
        // .
        handle((opcode, mtu))
    }

    @Expressions func decrypt(_ ciphertext: [UInt8], tag: [UInt8], nonce: [UInt8], key: UInt128) {
        // Sources/BLECore/Hashing/AESCCM.swift
        AESCCM(key: key).open(ciphertext, tag: tag, nonce: nonce)  // nil: another key, or changed on the way
        // .
    }

    func sign() {
        // Sources/BLECore/Hashing/AESCMAC.swift
        var mac = AESCMAC(key: 0)
        mac.update([0x01, 0x00])
        let code = mac.finalize()
        // .
        handle(code)
    }

    func drive(
        _ machine: inout some Machine, frame: Span<UInt8>, now: Instant, output: inout OutputSpan<UInt8>,
        send: (borrowing OutputSpan<UInt8>) -> Void
    ) {
        func wakeUp(at deadline: Instant?) {}
        // Sources/BLECore/Machine.swift
        machine.receive(frame, at: now)
        while machine.nextFrame(into: &output, at: now) { send(output) }
        while let event = machine.nextEvent() { handle(event) }
        wakeUp(at: machine.deadline)
        // .
    }
}
