import ArgumentParser
import AssignedNumbers
import BLECore
import Foundation
import Testing

@testable import bletool

struct LookupTests {
    private func found(_ arguments: String...) throws -> [String] {
        try LookupCommand.parse(arguments).found().map { $0.json.description }
    }

    @Test func numbersAreLookedUp() throws {
        let apple = #"{"event":"company","company":76,"companyName":"Apple, Inc."}"#
        for text in ["76", "0x004c", "004c"] { #expect(try found("company", text) == [apple]) }
        let battery = #"{"event":"uuid","uuid":"180f","name":"Battery Service","kind":"service"}"#
        for text in ["180f", "0000180F-0000-1000-8000-00805f9b34fb", "0x180f"] {
            #expect(try found("uuid", text) == [battery])
        }
        #expect(
            try found("appearance", "0x00c1") == [
                #"{"event":"appearance","appearance":193,"name":"Sports Watch"}"#
            ])
    }

    @Test func partialNamesFindAllMatches() throws {
        #expect(try found("company", "apple, inc").count == 1)
        let batteries = try found("uuid", "battery", "level")
        #expect(batteries.contains { $0.contains("2a19") })
        #expect(batteries.count > 1)
        #expect(try found("appearance", "watch").count > 1)
    }

    @Test(arguments: [
        ["company", "no such company"], ["uuid", "ffff"], ["appearance", "65535"], ["uuid", "2a19 x"],
    ])
    func noMatchFailsWithNotFound(arguments: [String]) throws {
        let failure = #expect(throws: Failure.self) { try LookupCommand.parse(arguments).found() }
        #expect(failure?.kind.status == .notFound)
    }

    @Test func unknownKindHasHintWithExample() throws {
        let failure = #expect(throws: Failure.self) { try LookupCommand.parse(["180f"]).found() }
        #expect(failure?.message == #"lookup: "180f" is not a kind of number"#)
        #expect(failure?.hint?.hasSuffix("as in: lookup uuid 180f") == true)
    }

    @Test func equalNamesAreResolvedByKind() {
        #expect(Names.uuid("Current Time", .characteristic) == 0x2a2b)
        #expect(Names.uuid("current_time", .service) == 0x1805)
        #expect(Names.uuid("battery level", .service) == 0x2a19)
        #expect(Names.uuid("nonsense", .service) == nil)
    }

    private static let lists = [
        "oui.txt": """
        OUI/MA-L                                                    Organization
        company_id                                                  Organization
                                                                    Address

        00-1A-7D   (hex)\t\tcyber-blue(HK)Ltd\r
        001A7D     (base 16)\t\tcyber-blue(HK)Ltd\r
        \t\t\t\tRoom1408 block C stars  Plaza HiTech Park\r

        70-B3-D5   (hex)\t\tIEEE Registration Authority\r
        70B3D5     (base 16)\t\tIEEE Registration Authority\r
        """,
        "oui36.txt": """
        70-B3-D5   (hex)\t\tTELEPLATFORMS\r
        F2F000-F2FFFF     (base 16)\t\tTELEPLATFORMS\r
        """,
    ]

    @Test(arguments: [
        ("00:1a:7d:da:71:13", ["001A7D cyber-blue(HK)Ltd"]),
        ("00:1A:7D:DA:71:13/public", ["001A7D cyber-blue(HK)Ltd"]),
        ("00-1A-7D", ["001A7D cyber-blue(HK)Ltd"]),
        ("70:B3:D5:F2:F1:23", ["70B3D5F2F TELEPLATFORMS"]),
        ("70b3d5f30123", ["70B3D5 IEEE Registration Authority"]),
        ("70b3d5", ["70B3D5 IEEE Registration Authority", "70B3D5F2F TELEPLATFORMS"]),
        ("Cyber-Blue", ["001A7D cyber-blue(HK)Ltd"]), ("c0:00:00:00:00:01", []), ("001a", []),
    ])
    func addressPrefixesNameManufacturers(_ text: String, _ expected: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("oui-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, list) in Self.lists { try File.replace("\(folder)/\(name)", with: Array(list.utf8)) }
        let prefixes = try #require(AddressPrefixes(in: ["/nonexistent", folder]))
        #expect(prefixes.matching(text).map { "\($0.digits) \($0.organization)" } == expected)
    }

    @Test func missingOrInvalidListsYieldNoPrefixes() {
        #expect(AddressPrefixes(in: ["/nonexistent"]) == nil)
        #expect(
            AddressPrefixes.entries(of: Array("zz (hex)\n12 (base 16) x\n123456-1 (base 16) y\n-".utf8))
                .isEmpty)
    }
}
