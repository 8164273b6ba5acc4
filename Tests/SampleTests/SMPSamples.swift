import BLE
import SMP

/// Samples of the module SMP.
struct SMPSamples {
    let transport: Transport

    func drive(
        _ manager: inout SecurityManager, frame: Span<UInt8>, now: Instant, output: inout OutputSpan<UInt8>,
        enableEncryption: (LongTermKey) -> Void, keep: (Bond) -> Void
    ) throws {
        // Sources/SMP/Pairing/SecurityManager.swift
        try manager.begin(.encryption, at: now)
        manager.receive(frame, at: now)
        while manager.nextFrame(into: &output, at: now) { transport.send(output) }
        while let event = manager.nextEvent() {
            switch event {
            case .encrypt(let key): enableEncryption(key)  // then manager.encryptionChanged(isOn:at:)
            case .paired(let bond, let isBonding): if isBonding { keep(bond) }
            default: handle(event)
            }
        }
        // .
    }
}
