import BLECore
import Foundation
import HCI
import Testing

/// All commands and events of the Core Specification 5.4 for Low Energy have types, except those that have a
/// name only.
@Suite struct CompletenessTests {
    /// Direction finding, isochronous streams, path loss, periodic advertising with responses.
    static let namedOnly: Set<UInt16> = Set<UInt16>(0x2051...0x2057).union(0x2061...0x206c).union(
        0x206e...0x2073
    ).union([0x2075, 0x2078, 0x2079]).union(0x2082...0x2086)

    @Test func everyLECommandIsNamedAndTyped() {
        let commands = (UInt16(0x2001)...0x2086).filter { ![0x2004, 0x2080, 0x2081].contains($0) }
        for opcode in commands.map(HCIOpcode.init) {
            #expect(!opcode.description.hasPrefix("0x"), "\(opcode.rawValue.hex)")
            #expect(
                (opcode.command == nil) == Self.namedOnly.contains(opcode.rawValue), "\(opcode)")
        }
    }

    @Test func everyCommandHasNameAndSupportBit() {
        for opcode in (0...UInt16.max).map(HCIOpcode.init) where opcode.command != nil {
            #expect(!opcode.description.hasPrefix("0x"))
            // Read Local Supported Commands is mandatory and has no bit.
            #expect(SupportedCommands([opcode]).contains(opcode) != (opcode == .readLocalSupportedCommands))
        }
    }

    /// The names of the LE commands with their numbers.
    private static let lowEnergyNames = (UInt16(0x2001)...0x2086).map {
        (opcode: HCIOpcode(rawValue: $0), name: HCIOpcode(rawValue: $0).description)
    }

    @Test("commands that advertise, scan or connect belong to a family, except those that both can use")
    func everyAdvertisingAndScanCommandHasFamily() {
        let neither: Set<HCIOpcode> = [
            .leCreateConnectionCancel, .lePeriodicAdvertisingSyncTransfer,
            .lePeriodicAdvertisingSetInfoTransfer, .leSetPeriodicAdvertisingSyncTransferParameters,
            .leSetDefaultPeriodicAdvertisingSyncTransferParameters, .leSetPeriodicAdvertisingSubeventData,
            .leSetPeriodicAdvertisingResponseData,
        ]
        let words = ["Advertis", "Scan", "Create Connection"]
        let commands = Self.lowEnergyNames.filter { one in words.contains { one.name.contains($0) } }
        #expect(commands.count > 35)
        for command in commands {
            #expect((CommandFamily(command.opcode) == nil) == neither.contains(command.opcode), "\(command)")
        }
    }

    @Test("all versions of a command belong to the same family")
    func versionsOfCommandShareFamily() {
        var families: [String: [CommandFamily?]] = [:]
        for command in Self.lowEnergyNames {
            families[command.name.replacing(/\s\[v\d\]$/, with: ""), default: []].append(
                CommandFamily(command.opcode))
        }
        let versioned = families.filter { $0.value.count > 1 }
        #expect(versioned.count > 5)
        for (name, all) in versioned { #expect(Set(all).count == 1, "\(name)") }
    }

    /// The messages in the rows of all tables.
    static let tested: Set<MessageCase.Subject> = {
        let commands =
            LegacyCommandTests.table + ExtendedCommandTests.table + LaterCommandTests.table
            + PeriodicAdvertisingTests.table
        let others = ReturnParameterTests.table + EventTests.table + AdvertisingReportTests.table
        return Set((commands + others).map(\.subject))
    }()

    @Test("every command and its return parameters have a test row") func everyCommandHasTestRow() {
        for command in Self.commands {
            #expect(Self.tested.contains(.command(command.opcode)), "\(command)")
            let returned = Self.returned(by: command)
            // The return parameters of 64 octets have tests of their own.
            guard returned != NoReturnParameters.self, command.opcode != .readLocalSupportedCommands else {
                continue
            }
            #expect(Self.tested.contains(.returned(command.opcode)), "\(command)")
        }
    }

    @Test("every event has a test row") func everyEventHasTestRow() {
        for code in (0...UInt8.max).map(HCIEventCode.init) where code != .leMeta {
            let event = try? HCIEvent(HCIEventPacket(code: code, parameters: []))
            if case .unknown = event { continue }
            #expect(Self.tested.contains(.event(code)), "\(code)")
        }
        for subevent in (0...UInt8.max).map(LESubevent.init) {
            let event = try? LEMetaEvent([subevent.rawValue])
            if case .unknown = event { continue }
            #expect(Self.tested.contains(.lowEnergy(subevent)), "\(subevent)")
        }
    }

    private static let commands = (0...UInt16.max).compactMap { HCIOpcode(rawValue: $0).command }

    private static func returned<Command: HCICommand>(by command: Command.Type) -> Any.Type {
        Command.ReturnParameters.self
    }

    @Test func catalogContainsEveryDeclaredCommand() throws {
        let declarations = try Self.sources().matches(of: /(?:struct|extension) (\w+): [^{\n]*\bHCICommand\b/)
        let declared = Set(declarations.map { String($0.1) })
        #expect(declared.count > 100)
        #expect(declared == Set(Self.commands.map { "\($0)" }))
    }

    @Test func everyConstantHasName() throws {
        var types: Set<Substring> = []
        for constant in try Self.sources().matches(of: /static let (\w+) = (\w+)\(rawValue: 0x([0-9a-f]+)\)/)
        {
            guard let number = UInt16(constant.3, radix: 16) else { continue }
            let octet = UInt8(truncatingIfNeeded: number)
            let name: String
            switch constant.2 {
            case "HCIOpcode": name = HCIOpcode(rawValue: number).description
            case "HCIEventCode": name = HCIEventCode(rawValue: octet).description
            case "LESubevent": name = LESubevent(rawValue: octet).description
            case "LESignalingCode": name = LESignalingCode(rawValue: octet).description
            // The number follows the name in parentheses.
            case "HCIStatus": name = HCIStatus(rawValue: octet).description
            default: continue
            }
            types.insert(constant.2)
            guard constant.1 != "none" else { continue }
            #expect(!name.hasPrefix("0x") && !name.hasPrefix("("), "\(constant.1)")
        }
        #expect(types.count == 5)
    }

    @Test("field names have the form of the specification") func fieldNamesFollowSpecification() throws {
        let layouts = try Self.sources().matches(
            of: /\b(command|event|message|HCILayout)\(\s*(?:\.\w+,\s*)?("""[^"]*"""|"[^"]*")/)
        #expect(layouts.count > 150)
        var count = 0
        for layout in layouts {
            for field in layout.2.split(separator: ",") {
                let name = field.trimmingCharacters(in: CharacterSet(charactersIn: "\"\\ \n"))
                guard !name.isEmpty else { continue }
                count += 1
                // The field names of signaling packets have several words.
                let isNamed =
                    layout.1 == "message"
                    ? name.wholeMatch(of: /[A-Z][A-Za-z ]*/) != nil
                    : name.wholeMatch(of: /[A-Z0-9][A-Za-z0-9_]*/) != nil
                #expect(isNamed, "\(name)")
            }
        }
        #expect(count > 300)
    }

    /// Returns the text of all files in Sources/HCI.
    private static func sources() throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/HCI").standardizedFileURL
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }.joined(separator: "\n")
    }

    @Test func everyLEEventIsNamedAndTyped() {
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
