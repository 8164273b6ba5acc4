import ATT
import BLECore
import GATTServer
import Testing

private let value: [UInt8] = [0x5e, 0xc7]

/// Returns services with a value at 0x0003 that requires `access`, and one at 0x0005 that any client may read.
private func guarded(_ access: SecurityLevel, keySize: Int = 7, authorize: Bool = false) -> [GATTService] {
    several(
        GATTCharacteristic(
            0xff01, properties: [.read, .write, .writeWithoutResponse],
            permissions: AttributePermissions(
                read: access, write: access, authorize: authorize, minimumKeySize: keySize),
            value: .stored(value)),
        GATTCharacteristic(0xff02, properties: .read, value: [7]))
}

/// Each request that accesses the value, with its opcode.
private let paths: [(opcode: String, request: String)] = [
    ("0a", "0a0300"), ("0c", "0c03000000"), ("0c", "0c0300ffff"), ("08", "080100ffff01ff"),
    ("08", "080300030001ff"), ("0e", "0e03000500"), ("0e", "0e05000300"), ("20", "2005000300"),
    ("12", "12030001"), ("12", "120300" + "01010101"), ("16", "1603000000" + "01"),
    ("16", "160300ffff" + "01"),
]

@Test("insufficient security is refused on all paths")
func insufficientSecurityIsRefused() throws {
    let weak = LinkSecurity(level: .secureConnections, keySize: 7)
    let cases: [(SecurityLevel, LinkSecurity, String)] = [
        (.encrypted, .none, "05"), (.encrypted, LinkSecurity(level: .open, isBonded: true), "0f"),
        (.encrypted, weak, "0c"), (.authenticated, .none, "05"),
        (.authenticated, LinkSecurity(level: .open, isBonded: true), "0f"),
        (.authenticated, LinkSecurity(level: .encrypted), "05"),
        (.authenticated, LinkSecurity(level: .encrypted, isBonded: true), "05"), (.authenticated, weak, "0c"),
        (.secureConnections, LinkSecurity(level: .authenticated), "05"), (.secureConnections, weak, "0c"),
    ]
    for (access, security, code) in cases {
        var dialogue = try ServerDialogue(guarded(access, keySize: 16), security: security)
        for path in paths {
            #expect(dialogue.ask(path.request) == "01" + path.opcode + "0300" + code)
        }
        // Nothing is queued, a command has no effect, and Find By Type Value does not match the value.
        run(
            &dialogue,
            [
                Exchange("1801", "19"), Exchange("520300aa", ""),
                Exchange("060100ffff01ff" + value.hex, "010601000a"),
                Exchange("060100ffff01ff" + "0000", "010601000a"),
            ])
        #expect(dialogue.events() == [])
        #expect(dialogue.server.database[3]?.value == value)
    }
}

@Test("refused reads and writes are reported, refused discovery is not")
func refusalsAreReported() throws {
    var dialogue = try ServerDialogue(guarded(.encrypted))
    for path in paths { _ = dialogue.ask(path.request) }
    // A command, which gets no response, and a handle that no attribute has.
    _ = dialogue.ask("520300aa")
    _ = dialogue.ask("0a0900")
    let opcodes: [UInt8] = [0x0a, 0x0c, 0x0c, 0x0e, 0x0e, 0x20, 0x12, 0x12, 0x16, 0x16, 0x52]
    let expected: [GATTServerEvent] =
        opcodes.map { opcode in
            .refused(
                central: ServerDialogue.central,
                ATTErrorResponse(ATTOpcode(opcode), 0x0003, .insufficientAuthentication),
                uuid: 0xff01)
        } + [
            .refused(
                central: ServerDialogue.central,
                ATTErrorResponse(.readRequest, 0x0009, .invalidHandle), uuid: nil)
        ]
    #expect(dialogue.allEvents() == expected)
}

@Test func sufficientSecurityIsAccepted() throws {
    let levels: [SecurityLevel] = [.open, .encrypted, .authenticated, .secureConnections]
    let accesses: [SecurityLevel] = [.open, .encrypted, .authenticated, .secureConnections]
    for (least, access) in accesses.enumerated() {
        for level in levels[least...] {
            var dialogue = try ServerDialogue(guarded(access), security: LinkSecurity(level: level))
            run(
                &dialogue,
                [
                    Exchange("0a0300", "0b" + value.hex),
                    Exchange("060100ffff01ff" + value.hex, "0703000300"),
                    Exchange("120300" + value.hex, "13"),
                ])
        }
    }
}

/// Level 4 requires a key of 16 octets, even if the minimum key size of the attribute is smaller (Core
/// Specification 5.4, Vol 3, Part C, 10.2.1).
@Test func securityLevel4RequiresFullKeySize() throws {
    for (keySize, answer) in [(15, "010a03000c"), (16, "0b" + value.hex)] {
        let security = LinkSecurity(level: .secureConnections, keySize: keySize)
        var dialogue = try ServerDialogue(guarded(.secureConnections), security: security)
        run(&dialogue, [Exchange("0a0300", answer)])
    }
}

@Test func securityCanChangeWhileConnected() throws {
    var dialogue = try ServerDialogue(guarded(.encrypted))
    run(&dialogue, [Exchange("0a0300", "010a030005")])
    dialogue.server.setSecurity(LinkSecurity(level: .encrypted), of: ServerDialogue.central)
    run(
        &dialogue, [Exchange("0a0300", "0b" + value.hex), Exchange("1603000000" + "01", "1703000000" + "01")])
    dialogue.server.setSecurity(.none, of: ServerDialogue.central)
    run(&dialogue, [Exchange("1801", "0118030005"), Exchange("1801", "19")])
    #expect(dialogue.server.database[3]?.value == value)
}

@Test("access requires authorization by the application")
func accessRequiresAuthorization() throws {
    var dialogue = try ServerDialogue(guarded(.open, authorize: true))
    for path in paths { #expect(dialogue.ask(path.request) == "01" + path.opcode + "0300" + "08") }

    var configuration = ServerOptions()
    configuration.authorize = { $0.central.client == ServerDialogue.central && !$0.isWrite && $0.handle == 3 }
    var asked = try ServerDialogue(guarded(.open, authorize: true), configuration: configuration)
    run(&asked, [Exchange("0a0300", "0b" + value.hex), Exchange("12030001", "0112030008")])
    // Encryption is checked before authorization.
    var unsafe = try ServerDialogue(guarded(.encrypted, authorize: true), configuration: configuration)
    run(&unsafe, [Exchange("0a0300", "010a030005")])
}

@Test func unreadableValueIsNotMatched() throws {
    var dialogue = try ServerDialogue(
        several(
            GATTCharacteristic(0xff01, properties: .write, value: .stored(value)),
            GATTCharacteristic(0xff01, properties: .read, value: .cached(value))))
    run(
        &dialogue,
        [
            Exchange("060100ffff01ff" + value.hex, "0705000500"),
            Exchange("06010003" + "0001ff" + value.hex, "010601000a"),
            Exchange("080100ffff01ff", "0108030002"),
            Exchange("0c03000000", "010c030002"), Exchange("0c030003ff", "010c030002"),
        ])
}

@Test func subscribingRequiresSecurityOfReadingByDefault() throws {
    let permissions = AttributePermissions(read: .encrypted, minimumKeySize: 10)
    var dialogue = try ServerDialogue(
        single(GATTCharacteristic(0xff01, properties: [.read, .notify], permissions: permissions)))
    run(&dialogue, [Exchange("1204000100", "0112040005"), Exchange("0a0400", "0b0000")])
    dialogue.server.setSecurity(LinkSecurity(level: .encrypted, keySize: 9), of: ServerDialogue.central)
    run(&dialogue, [Exchange("1204000100", "011204000c")])
    dialogue.server.setSecurity(LinkSecurity(level: .encrypted, keySize: 10), of: ServerDialogue.central)
    run(&dialogue, [Exchange("1204000100", "13")])
    // A level of its own can be lower than that of reading.
    var open = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .notify], permissions: permissions, subscription: .open)))
    run(&open, [Exchange("0a0300", "010a030005"), Exchange("1204000100", "13")])
}

@Test func descriptorsHaveOwnPermissions() throws {
    let characteristic = GATTCharacteristic(
        0xff01, properties: .notify, subscription: .encrypted,
        descriptors: [
            GATTDescriptor(0x2901, permissions: AttributePermissions(read: nil, write: .open), value: [1])
        ])
    var dialogue = try ServerDialogue(single(characteristic))
    run(
        &dialogue,
        [
            Exchange("0a0400", "010a040002"), Exchange("12040002", "13"),
            Exchange("0a0500", "0b0000"), Exchange("1205000100", "0112050005"),
        ])
    dialogue.server.setSecurity(LinkSecurity(level: .encrypted), of: ServerDialogue.central)
    run(&dialogue, [Exchange("1205000100", "13")])
}
