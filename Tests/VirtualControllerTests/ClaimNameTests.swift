import BLECore
import HCI
import Testing
import VirtualController

@Suite struct ClaimNameTests {
    static func claim(_ name: [UInt8], on id: ID, _ bench: inout Bench) throws -> ClaimName.Answer {
        let (status, rest) = bench.answer(
            HCICommandPacket(opcode: ClaimName.opcode, parameters: name), on: id)
        return try ClaimName.Answer([status.rawValue] + rest)
    }

    static func claim(_ name: String, on id: ID, _ bench: inout Bench) throws -> ClaimName.Answer {
        let command = try #require(ClaimName(name))
        return try claim(command.packet.parameters, on: id, &bench)
    }

    /// FNV-1a of "kitchen" is 0x857ba31dc6b8878f (64 bits). The address consists of 0b11 and the low 46 bits.
    @Test func addressDependsOnlyOnName() throws {
        var first = Bench(seed: 1)
        var second = Bench(seed: 2)
        _ = second.join()
        let (one, two) = (first.join(), second.join())
        let answer = try Self.claim("kitchen", on: one, &first)
        #expect(answer.status == .success)
        #expect(answer.address.kind == .static)
        #expect(answer.address == .randomStatic(named: "kitchen".utf8))
        #expect(answer.address == DeviceAddress(0xe31d_c6b8_878f, type: .random))
        #expect(answer.address == (try Self.claim("kitchen", on: two, &second)).address)
        #expect(answer.address != (try Self.claim("Kitchen", on: one, &first)).address)
        #expect(DeviceAddress.randomStatic(named: "a".utf8) == .randomStatic(0xaf63_dc4c_8601_ec8c))
        #expect(DeviceAddress.randomStatic(named: "foobar".utf8) == .randomStatic(0x8594_4171_f739_67e8))
    }

    @Test func emptyNameGetsUniqueAddress() throws {
        var bench = Bench()
        let (one, two) = (bench.join(), bench.join())
        let addresses = try [one, two, one].map { try Self.claim("", on: $0, &bench).address }
        #expect(Set(addresses).count == 3)
        #expect(addresses.allSatisfy { $0.kind == .static })
        var again = Bench()
        let same = again.join()
        _ = again.join()
        #expect(try Self.claim("", on: same, &again).address == addresses[0], "by the seed")
    }

    @Test func nameHasOneHolder() throws {
        var bench = Bench()
        let holder = bench.air.add(processID: 4711)
        let other = bench.join()
        #expect(try Self.claim("door", on: holder, &bench).status == .success)
        #expect(try Self.claim("door", on: holder, &bench).status == .success, "again is the same")
        #expect(
            try Self.claim("door", on: other, &bench)
                == ClaimName.Answer(status: .commandDisallowed, holder: 4711))
        bench.perform(Reset(), on: holder)
        #expect(try Self.claim("door", on: other, &bench).status == .commandDisallowed)
        // Another name, an empty name, and the removal of the controller release the name.
        #expect(try Self.claim("gate", on: holder, &bench).status == .success)
        #expect(try Self.claim("door", on: other, &bench).status == .success)
        #expect(
            try Self.claim("door", on: holder, &bench) == ClaimName.Answer(status: .commandDisallowed),
            "its process is not known")
        #expect(try Self.claim("", on: other, &bench).status == .success)
        #expect(try Self.claim("door", on: holder, &bench).status == .success)
        bench.remove(holder)
        #expect(try Self.claim("door", on: other, &bench).status == .success)
    }

    @Test func invalidNamesAreRefused() throws {
        var bench = Bench()
        let id = bench.join()
        let wrong = ClaimName.Answer(status: .invalidCommandParameters)
        #expect(try Self.claim([0xff], on: id, &bench) == wrong)
        #expect(try Self.claim([UInt8](repeating: 0x61, count: 201), on: id, &bench) == wrong)
        #expect(try Self.claim([UInt8](repeating: 0x61, count: 200), on: id, &bench).status == .success)
        #expect(ClaimName(String(repeating: "a", count: 201)) == nil)
    }
}
