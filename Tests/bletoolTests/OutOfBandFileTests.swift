import ArgumentParser
import BLECore
import Foundation
import SMP
import Testing

@testable import bletool

struct OutOfBandFileTests {
    private static let peer = DeviceAddress(0xc011_2233_4455, type: .random)
    private static let record = OutOfBandRecord(.temporaryKey(1), of: peer)
    private static let hex = "081b5544332211c001" + "111001000000000000000000000000000000"

    @Test func fileIsHexLineReadableOnlyByOwner() throws {
        try withTemporaryPath { path in
            try OutOfBandFile.write(Self.record, to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.hex + "\n")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try OutOfBandFile.read(path) == Self.record)
        }
    }

    @Test func binaryRecordIsRead() throws {
        try withTemporaryPath { path in
            let octets = try #require([UInt8](hex: Self.hex))
            try Data(octets).write(to: URL(fileURLWithPath: path))
            #expect(try OutOfBandFile.read(path) == Self.record)
        }
    }

    @Test(arguments: ["", "0201", "081b5544332211c001", "no hex"])
    func invalidFilesAreRefused(_ text: String) throws {
        try withTemporaryPath { path in
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let arguments = OutOfBandArguments(data: [path])
            let failure = #expect(throws: Failure.self) { try arguments.check(readsNow: true) }
            #expect(failure?.kind == .input)
            #expect(failure?.what == "--oob-data \(path)")
            // A server reads the file later, so it need not be valid yet.
            try arguments.check(readsNow: false)
        }
    }

    @Test func offerReplacesRecordsOnly() throws {
        try withTemporaryPath { path in
            let arguments = OutOfBandArguments(offer: path)
            try arguments.check(readsNow: true)
            try OutOfBandFile.write(Self.record, to: path)
            try arguments.check(readsNow: true)
            try Data("name: Lamp".utf8).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: Failure.self) { try arguments.check(readsNow: true) }
            #expect(failure?.kind == .input)
            #expect(failure?.why == "the file exists and is no out-of-band record")
        }
    }

    @Test func legacyFlagRequiresOffer() throws {
        let arguments = OutOfBandArguments(isLegacy: true)
        let failure = #expect(throws: Failure.self) { try arguments.check(readsNow: true) }
        #expect(failure?.kind == .usage)
    }

    @Test func recordMatchesPairingPeer() {
        let anybody = OutOfBandRecord(.temporaryKey(2))
        let other = DeviceAddress(0xc0ff_ffff_ffff, type: .random)
        let hidden = DeviceAddress(0x4011_2233_4455, type: .random)
        #expect([anybody, Self.record].data(of: Self.peer) == .temporaryKey(1))
        #expect([Self.record, anybody].data(of: other) == .temporaryKey(2))
        #expect([Self.record].data(of: other) == nil)
        // The identity behind a private address is unknown before pairing, so the record for another address
        // is used.
        #expect([Self.record].data(of: hidden) == .temporaryKey(1))
    }
}
