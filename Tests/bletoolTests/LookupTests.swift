import ArgumentParser
import AssignedNumbers
import BLECore
import Testing

@testable import bletool

struct LookupTests {
    private func found(_ arguments: String...) throws -> [String] {
        try LookupCommand.parse(arguments).found().map { $0.json.description }
    }

    @Test func numbersHaveNames() throws {
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

    @Test func partsOfNamesFindAll() throws {
        #expect(try found("company", "apple, inc").count == 1)
        let batteries = try found("uuid", "battery", "level")
        #expect(batteries.contains { $0.contains("2a19") })
        #expect(batteries.count > 1)
        #expect(try found("appearance", "watch").count > 1)
    }

    @Test(arguments: [
        ["company", "no such company"], ["uuid", "ffff"], ["appearance", "65535"], ["uuid", "2a19 x"],
    ])
    func nothingIsAFailure(arguments: [String]) throws {
        let failure = #expect(throws: Failure.self) { try LookupCommand.parse(arguments).found() }
        #expect(failure?.kind.status == .notFound)
    }

    @Test func equalNamesGoByKind() {
        #expect(Names.uuid("Current Time", .characteristic) == 0x2a2b)
        #expect(Names.uuid("current_time", .service) == 0x1805)
        #expect(Names.uuid("battery level", .service) == 0x2a19)
        #expect(Names.uuid("nonsense", .service) == nil)
    }
}
