import ATT
import BLECore
import Testing

private func response(_ hex: String) throws -> ATTResponse {
    try ATTResponse(try #require([UInt8](hex: hex)))
}

@Test func entryListExposesDecodedEntries() throws {
    guard case .readByGroupType(let list) = try response("1106" + "010007000018" + "08000b000118") else {
        Issue.record("not a list of groups")
        return
    }
    #expect(list.count == 2)
    #expect(list.entryLength == 6)
    #expect(list[1].handle == 8)
    #expect(list[1].groupEnd == 11)
    #expect(Array(list[1].value) == [0x01, 0x18])
    #expect(list.last?.handle == 8)
}

@Test func entryListRejectsOtherLengths() throws {
    var list = try #require(ATTEntryList(ATTAttributeData(handle: 1, value: [1, 2])))
    let taken = [[1], [1, 2, 3], [3, 4]].map { list.append(ATTAttributeData(handle: 2, value: $0)) }
    #expect(taken == [false, false, true])
    #expect(list.map(\.handle) == [1, 2])
    #expect(ATTEntryList(ATTAttributeData(handle: 1, value: [UInt8](repeating: 0, count: 254)[...])) == nil)
}

@Test func longestEntryFillsLengthField() throws {
    let value = [UInt8](repeating: 7, count: 253)
    let list = try #require(ATTEntryList(ATTAttributeData(handle: 1, value: value[...])))
    let pdu = ATTResponse.readByType(list)
    #expect(pdu.encoded[1] == 255)
    #expect(try ATTResponse(pdu.encoded) == pdu)
}

@Test func informationListPreservesUUIDWidth() throws {
    let short = "05020300" + "fb349b5f80000080001000000028" + "0000"
    guard case .findInformation(let list) = try response(short) else {
        Issue.record("not information")
        return
    }
    #expect(list.first?.type.uuid == .primaryService)
    #expect(list.first?.type.isLong == true)
    #expect(ATTResponse.findInformation(list).encoded.hex == short)
}

@Test func truncatedTupleKeepsAvailableOctets() throws {
    let cases: [(String, [(length: Int, value: [UInt8], isTruncated: Bool)])] = [
        ("21" + "0200aabb" + "0400cc", [(2, [0xaa, 0xbb], false), (4, [0xcc], true)]),
        ("21" + "0200aabb" + "0400", [(2, [0xaa, 0xbb], false), (4, [], true)]),
        ("21" + "0200aabb" + "04", [(2, [0xaa, 0xbb], false)]),
        ("21" + "ffffaabb", [(0xffff, [0xaa, 0xbb], true)]),
        ("21" + "00000000", [(0, [], false), (0, [], false)]),
    ]
    for (hex, expected) in cases {
        guard case .readMultipleVariable(let list) = try response(hex) else {
            Issue.record("not a list of values")
            return
        }
        #expect(list.map(\.length) == expected.map(\.length))
        #expect(list.map { Array($0.value) } == expected.map(\.value))
        #expect(list.map(\.isTruncated) == expected.map(\.isTruncated))
        #expect(ATTResponse.readMultipleVariable(list).encoded.hex == hex)
    }
}

@Test func tupleListIsTruncatedAtLimit() {
    for limit in 0...9 {
        var list = ATTTupleList<ATTHandleLengthValue>()
        let isWhole = list.append(ATTHandleLengthValue(0x0102, [1, 2, 3, 4, 5]), limit: limit)
        #expect(isWhole == (limit == 9))
        #expect(list.bytes == (limit < 4 ? [] : Array([2, 1, 5, 0, 1, 2, 3, 4, 5][..<limit])))
        #expect(list.first?.handle == (limit < 4 ? nil : 0x0102))
        #expect(list.first?.length == (limit < 4 ? nil : 5))
    }
}
