import BLECore
import HCI
import Testing

/// All that the Core Specification 5.4 has for Low Energy is here, but for what stays bytes with a name.
@Suite struct CompletenessTests {
    /// Direction finding, isochronous streams, path loss, periodic advertising with responses.
    static let namedOnly: Set<UInt16> = Set<UInt16>(0x2051...0x2057).union(0x2061...0x206c).union(
        0x206e...0x2073
    ).union([0x2075, 0x2078, 0x2079]).union(0x2082...0x2086)

    @Test func everyCommandOfLowEnergyIsData() {
        let commands = (UInt16(0x2001)...0x2086).filter { ![0x2004, 0x2080, 0x2081].contains($0) }
        for opcode in commands.map(HCIOpcode.init) {
            #expect(!opcode.description.hasPrefix("0x"), "\(opcode.rawValue.hex)")
            #expect(
                (opcode.command == nil) == Self.namedOnly.contains(opcode.rawValue), "\(opcode)")
        }
    }

    @Test func everyCommandHasANameAndABit() {
        for opcode in (0...UInt16.max).map(HCIOpcode.init) where opcode.command != nil {
            #expect(!opcode.description.hasPrefix("0x"))
            // Every controller must know the one command that asks which it knows.
            #expect(SupportedCommands([opcode]).contains(opcode) != (opcode == .readLocalSupportedCommands))
        }
    }

    @Test("the return parameters of every command stand in a table of the tests") func returnParameters() {
        let tables =
            ReturnParameterTests.table + LaterCommandTests.power + LaterCommandTests.timing
            + LaterCommandTests.host
            + LaterCommandTests.radio + PeriodicAdvertisingTests.returned

        let tested = Set(tables.compactMap(\.returned))
        for command in (0...UInt16.max).lazy.compactMap({ HCIOpcode(rawValue: $0).command }) {
            let returned = Self.returned(by: command)
            // Those of 64 octets have tests of their own.
            guard returned != NoReturnParameters.self, command.opcode != .readLocalSupportedCommands else {
                continue
            }
            #expect(tested.contains(command.opcode), "\(command.opcode)")
        }
    }

    private static func returned<Command: HCICommand>(by command: Command.Type) -> Any.Type {
        Command.ReturnParameters.self
    }

    @Test func everyEventOfLowEnergyIsData() {
        // Direction finding; isochronous streams; path loss; BIGInfo; periodic advertising with responses.
        let namedOnly = Set<UInt8>(0x15...0x17).union(0x19...0x1e).union([0x20, 0x22]).union(0x24...0x29)
        for code in UInt8(0x01)...0x29 {
            #expect(!LESubevent(rawValue: code).description.hasPrefix("0x"), "\(code.hex)")
            let event = try? LEMetaEvent([code])
            let isUnknown = if case .unknown = event { true } else { false }
            #expect(isUnknown == namedOnly.contains(code), "\(code.hex)")
        }
    }
}
