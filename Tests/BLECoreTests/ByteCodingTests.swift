import BLECore
import TestSupport
import Testing

@Suite struct ByteCodingTests {
    let bytes = octets(
        "80 fe 0201 030201 04030201 060504030201 0807060504030201 100f0e0d0c0b0a090807060504030201 aabb cc dd"
    )

    @Test func readsAndWritesLittleEndian() throws {
        var reader = ByteReader(bytes.span, of: "test")
        #expect(try reader.u8("u8") == 0x80)
        #expect(try reader.i8("i8") == -2)
        #expect(try reader.u16("u16") == 0x0102)
        #expect(try reader.u24("u24") == 0x01_0203)
        #expect(try reader.u32("u32") == 0x0102_0304)
        #expect(try reader.u48("u48") == 0x0102_0304_0506)
        #expect(try reader.u64("u64") == 0x0102_0304_0506_0708)
        #expect(try reader.u128("u128") == 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
        #expect(try reader.bytes(2, "bytes") == [0xaa, 0xbb])
        #expect([UInt8](copying: try reader.span(1, "span")) == [0xcc])
        #expect(reader.remaining == 1)
        #expect(throws: DecodeError(packet: "test", field: "end", offset: 44, reason: .trailing(count: 1))) {
            var end = ByteReader(bytes.span, of: "test")
            _ = try end.bytes(44, "skipped")
            try end.end()
        }
        #expect(reader.rest() == [0xdd])
        #expect(reader.rest() == [])
        #expect([UInt8](copying: reader.restInPlace()) == [])
        try reader.end()

        let written = [UInt8](capacity: 64) { output in
            output.u8(0x80)
            output.i8(-2)
            output.u16(0x0102)
            output.u24(0xff01_0203)
            output.u32(0x0102_0304)
            output.u48(0xffff_0102_0304_0506)
            output.u64(0x0102_0304_0506_0708)
            output.u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)
            output.bytes([0xaa, 0xbb])
            output.bytes([0, 0xcc][1...])
            output.bytes([0xdd].span)
        }
        #expect(written == bytes)
    }

    @Test func readsBigEndianAndSignedNumbers() throws {
        let bytes = octets("0102 01020304 0102030405060708 feff fdffffff")
        var reader = ByteReader(bytes.span, of: "test")
        #expect(try reader.bigEndian16("a") == 0x0102)
        #expect(try reader.bigEndian32("b") == 0x0102_0304)
        #expect(try reader.bigEndian64("c") == 0x0102_0304_0506_0708)
        #expect(try reader.i16("d") == -2)
        #expect(try reader.i32("e") == -3)
        try reader.end()
    }

    @Test func integersConvertToBigEndianOctets() {
        #expect([UInt8](bigEndian: UInt16(0x0102)) == [1, 2])
        #expect([UInt8](bigEndian: Int32(-2)) == [0xff, 0xff, 0xff, 0xfe])
        var octets: [UInt8] = [9]
        octets.append(bigEndian: UInt16(0x0102))
        #expect(octets == [9, 1, 2])
        #expect(UInt16(bigEndian: [1, 2]) == 0x0102)
        #expect(Int8(bigEndian: [0xfe]) == -2)
        #expect(UInt32(bigEndian: [1] as [UInt8]) == 1)
        #expect(UInt32(bigEndian: [] as [UInt8]) == 0)
        #expect(UInt16(bigEndian: [9, 1, 2]) == 0x0102)
    }

    @Test func integersConvertToLittleEndianOctets() {
        #expect([UInt8](littleEndian: UInt8(0xfe)) == [0xfe])
        #expect([UInt8](littleEndian: Int8(-2)) == [0xfe])
        #expect([UInt8](littleEndian: UInt16(0x0102)) == [2, 1])
        #expect([UInt8](littleEndian: Int32(-2)) == [0xfe, 0xff, 0xff, 0xff])
        #expect([UInt8](littleEndian: UInt64(0x0102_0304_0506_0708)) == [8, 7, 6, 5, 4, 3, 2, 1])
        let long: UInt128 = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10
        #expect([UInt8](littleEndian: long) == (1...16).reversed())
        var octets: [UInt8] = [9]
        octets.append(littleEndian: UInt16(0x0102))
        #expect(octets == [9, 2, 1])

        #expect(UInt8(littleEndian: [0xfe]) == 0xfe)
        #expect(Int16(littleEndian: [0xfe, 0xff]) == -2)
        #expect(UInt64(littleEndian: [8, 7, 6, 5, 4, 3, 2, 1]) == 0x0102_0304_0506_0708)
        #expect(UInt128(littleEndian: [UInt8](littleEndian: long)) == long)
        // Missing octets count as zero, and additional ones are ignored.
        #expect(UInt32(littleEndian: [] as [UInt8]) == 0)
        #expect(UInt32(littleEndian: [2, 1]) == 0x0102)
        #expect(UInt64(littleEndian: [1, 2, 0, 0, 0, 0, 0, 0, 9]) == 513)
        #expect(UInt16(littleEndian: [9, 2, 1, 7].dropFirst()) == 0x0102)
    }

    /// A read beyond the end throws an error with the field and the offset, and does not move the cursor.
    @Test func shortReadsFailAndKeepOffset() {
        typealias Read = (inout ByteReader) throws(DecodeError) -> Void
        let reads: [(Int, Read)] = [
            (1, { reader throws(DecodeError) in _ = try reader.u8("field") }),
            (1, { reader throws(DecodeError) in _ = try reader.i8("field") }),
            (2, { reader throws(DecodeError) in _ = try reader.u16("field") }),
            (3, { reader throws(DecodeError) in _ = try reader.u24("field") }),
            (4, { reader throws(DecodeError) in _ = try reader.u32("field") }),
            (6, { reader throws(DecodeError) in _ = try reader.u48("field") }),
            (8, { reader throws(DecodeError) in _ = try reader.u64("field") }),
            (16, { reader throws(DecodeError) in _ = try reader.u128("field") }),
            (5, { reader throws(DecodeError) in _ = try reader.bytes(5, "field") }),
            (5, { reader throws(DecodeError) in _ = try reader.span(5, "field") }),
        ]
        for (needed, read) in reads {
            for available in 0..<needed {
                let bytes = [UInt8](repeating: 1, count: available + 1)
                var reader = ByteReader(bytes.span, of: "test")
                do throws(DecodeError) {
                    _ = try reader.u8("first")
                    try read(&reader)
                    Issue.record("\(available) octets were enough for \(needed)")
                } catch {
                    #expect(
                        error
                            == DecodeError(
                                packet: "test", field: "field", offset: 1,
                                reason: .truncated(needed: needed, available: available)))
                }
                #expect(reader.offset == 1)
            }
        }
    }

    /// A count from a peer can have any value.
    @Test(arguments: [-1, Int.min, Int.max, 4])
    func impossibleCountsFail(_ count: Int) {
        var reader = ByteReader([1, 2, 3].span, of: "test")
        #expect((try? reader.bytes(count, "bytes")) == nil)
        #expect(reader.remaining == 3)
    }

    @Test func errorsNameFieldAndOffset() throws {
        var reader = ByteReader([7, 8, 9].span, of: "test")
        _ = try reader.u8("first")
        _ = try reader.u16("second")
        #expect(
            reader.invalid("second", value: 0x0908, width: 2)
                == DecodeError(packet: "test", field: "second", offset: 1, reason: .invalid(value: 0x0908)))
        #expect(reader.invalid("sign", value: Int8(-1), width: 1).reason == .invalid(value: .max))
        #expect(reader.failure("third", .malformed("because")).offset == 3)
    }
}

@Suite struct DecodeErrorTests {
    @Test(arguments: [
        (
            DecodeError.Reason.truncated(needed: 2, available: 1),
            "Read Request: handle at octet 1 needs 2 octets, 1 left"
        ),
        (.trailing(count: 3), "Read Request: handle at octet 1: 3 octets too many"),
        (.invalid(value: 0xab), "Read Request: handle at octet 1 has the invalid value 0xab"),
        (.malformed("it is odd"), "Read Request: handle at octet 1: it is odd"),
    ])
    func descriptionNamesPacketFieldAndReason(_ reason: DecodeError.Reason, _ text: String) {
        #expect(
            DecodeError(packet: "Read Request", field: "handle", offset: 1, reason: reason).description
                == text)
    }
}

@Suite struct HexTests {
    @Test func encodesAndDecodesHex() {
        #expect([UInt8]([0x00, 0x0f, 0xa5, 0xff]).hex == "000fa5ff")
        #expect([UInt8]().hex == "")
        #expect([UInt8](hex: "000FA5ff") == [0x00, 0x0f, 0xa5, 0xff])
        #expect([UInt8](hex: "") == [])
        #expect(UInt8(0x0a).hex == "0a")
        #expect(UInt16(0x2a).hex == "002a")
        #expect(UInt32(0).hex == "00000000")
        #expect(UInt128.max.hex == String(repeating: "f", count: 32))
    }

    @Test(arguments: [
        "0", "000", "0g", "g0", "0x00", " 00", "00 ", "0-", "é", "00é", "/0", ":0", "@0", "`0",
    ])
    func rejectsInvalidHex(_ text: String) { #expect([UInt8](hex: text) == nil) }

    @Test func randomBytesRoundTrip() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<500 {
            let bytes = random.bytes(upTo: 40)
            #expect([UInt8](hex: bytes.hex) == bytes)
            #expect([UInt8](hex: bytes.hex.uppercased()) == bytes)
        }
    }
}
