import ATT
import BLECore
import GATTServer
import Testing

@testable import bletool

/// `strict: false`: a configuration that contradicts itself is served as written, with a warning for each
/// contradiction.
struct ContradictionTests {
    /// Returns a file with one characteristic, whose lines begin at line 6.
    private func file(_ lines: String, _ top: String = "strict: false") -> String {
        "\(top)\nservices:\n- uuid: 180f\n  characteristics:\n  - uuid: 2a19\n"
            + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    }

    @Test(
        "permissions beyond the properties are served with a warning, also when contradictions are errors",
        arguments: [
            ("[read], permissions: {write: open}", "write"),
            ("[write], permissions: {read: encrypted}", "read"),
            ("[notify], permissions: {read: encrypted}", nil),
            ("[notify], permissions: {read: encrypted, subscribe: open}", "read"),
            ("[read], permissions: {read: encrypted}", nil),
            ("[writeWithoutResponse], permissions: {write: encrypted}", nil), ("[read, write]", nil),
        ] as [(String, String?)])
    func permissionsBeyondPropertiesAreWarnings(_ text: String, _ name: String?) throws {
        let served = try configuration(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: \(text)}]}]")
        #expect(
            served.warnings.map(\.reason)
                == (name.map { ["centrals can \($0) the value, which its properties do not show"] } ?? []))
    }

    @Test("a characteristic with a descriptor's UUID is an error, or a warning if the file is not strict")
    func descriptorUUIDOnCharacteristicIsReported() throws {
        let lines = """
            services:
            - {uuid: 180f, characteristics: [{uuid: 2a19, properties: [read]}, {uuid: 2902, properties: [read]}]}
            """
        let served = try configuration("strict: false\n\(lines)")
        #expect(served.warnings.map(\.reason) == ["2902 is the UUID of a descriptor"])
        let error = #expect(throws: ConfigurationError.self) { try configuration(lines) }
        #expect(error?.reason == "2902 is the UUID of a descriptor" && error?.position?.line == 2)
    }

    @Test("gaps in a service's handles produce a warning if the file is not strict, and no error if it is")
    func handleGapsProduceWarningOnlyIfNotStrict() throws {
        let lines = """
            services:
            - {uuid: 180f, handle: 0x20, characteristics: [{uuid: 2a19, valueHandle: 0x23, properties: [notify], value: {u8: 1}}]}
            - {uuid: 1809, handle: 0x40, includes: [{uuid: 180f}], characteristics: [{uuid: 2a1c, properties: [indicate]}]}
            """
        let served = try configuration("strict: false\n\(lines)")
        #expect(served.warnings.map(\.reason) == ["1 of the handles 0x0020 to 0x0024 have no attribute"])
        #expect(served.warnings.first?.position?.line == 3)
        #expect(try configuration(lines).warnings.isEmpty)
    }

    /// The lines, and the line numbers and first words of their warnings. In a strict file, the first warning
    /// is an error.
    @Test(
        arguments: [
            ("properties: [read]\npermissions: {read: none}", [(7, "the properties offer")]),
            ("properties: [write]\npermissions: {write: none}", [(7, "the properties offer")]),
            (
                "properties: []\ndescriptors: [{uuid: 2900}]",
                [(7, "the descriptor 2900 needs the property extended")]
            ),
            ("properties: [read]\ndescriptors: [{uuid: 2902}]", [(7, "the descriptor 2902 needs")]),
            (
                "properties: []\ndescriptors: [{uuid: 2903}]",
                [(7, "the descriptor 2903 needs the property broadcast")]
            ),
            (
                "properties: [notify]\ndescriptors:\n- {uuid: 2902}\n- {uuid: 2902}",
                [(9, "a characteristic has only one descriptor 2902")]
            ),
            (
                "properties: []\ndescriptors:\n- {uuid: 2901}\n- {uuid: 2901}\n- {uuid: 2901}",
                [(9, "a characteristic has only one"), (10, "a characteristic has only one")]
            ),
            (
                "properties: []\ndescriptors: [{uuid: 2904, value: {hex: 01}}]",
                [(7, "a descriptor 2904 has 7 octets, not 1")]
            ),
            (
                "properties: [extended]\ndescriptors: [{uuid: 2900, value: {hex: 010203}}]",
                [(7, "a descriptor 2900 has 2 octets, not 3")]
            ),
            ("properties: []\nnotify: {every: 1s, counter: u8}", [(7, "notify without a property")]),
            ("properties: [write]\nread: {exec: x}", [(7, "read makes values")]),
            ("properties: [read]\nwrite: {exec: x}", [(7, "write takes values")]),
        ] as [(String, [(Int, String)])])
    func contradictionsAreWarningsOrErrors(_ lines: String, _ warnings: [(line: Int, words: String)]) throws {
        let served = try configuration(file(lines))
        #expect(served.warnings.map(\.position?.line) == warnings.map(\.line))
        for (warning, expected) in zip(served.warnings, warnings) {
            #expect(warning.reason.hasPrefix(expected.words), "\(warning)")
        }
        expectDatabase(of: served)
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(file(lines, "strict: true"))
        }
        #expect(error == served.warnings.first)
    }

    @Test func circularIncludesProduceWarning() throws {
        let circle = """
            services:
            - {uuid: 180f, includes: [{uuid: 1809}]}
            - {uuid: 1809, includes: [{uuid: 180f}]}
            strict: false
            """
        let served = try configuration(circle)
        #expect(served.warnings.map(\.reason) == ["1809 includes itself, directly or through others"])
        expectDatabase(of: served)
    }

    /// A configuration that cannot be served is refused even without `strict`.
    @Test(arguments: [
        "properties: [read]\nvalueHandle: 0x0010", "properties: [read]\nvalue: abc\nlength: {max: 2}",
        "properties: [notify]\ndescriptors: [{uuid: 2902, value: {hex: 0100}}]",
    ])
    func unservableConfigurationIsRefused(_ lines: String) {
        #expect(throws: ConfigurationError.self) { try configuration(file(lines)) }
    }

    /// Descriptors that properties require are added even without `strict`, unless `standardDescriptors` is
    /// false.
    @Test func missingDescriptorsAreAddedOrReported() throws {
        let lines = "properties: [notify, extended, broadcast]"
        let completed = try configuration(file(lines))
        #expect(completed.warnings.isEmpty)
        #expect(
            completed.services[0].characteristics[0].descriptors.map(\.uuid) == [0x2900, 0x2902, 0x2903])
        let bare = try configuration(file(lines, "strict: false\nstandardDescriptors: false"))
        #expect(
            bare.warnings.map(\.reason) == [
                "the property extended needs the descriptor 2900",
                "the property notify or indicate needs the descriptor 2902",
                "the property broadcast needs the descriptor 2903",
            ])
        #expect(bare.services[0].characteristics[0].descriptors.isEmpty)
        expectDatabase(of: bare)
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(file(lines, "standardDescriptors: false"))
        }
        #expect(error == bare.warnings.first.map { ConfigurationError(error?.position, $0.reason) })
    }

    /// A client can read the declarations. It cannot read a value that no link may read. A subscription by
    /// one of two descriptors 2902 is also visible in the other.
    @Test func contradictionsAreServedAsWritten() throws {
        let text = """
            strict: false
            standardServices: false
            services:
            - uuid: 180f
              characteristics:
              - {uuid: 2a19, properties: [read], permissions: {read: none}}
              - uuid: 2a1a
                properties: [notify]
                descriptors: [{uuid: 2902}, {uuid: 2900, value: {hex: "0100"}}, {uuid: 2902}]
            """
        let served = try configuration(text)
        #expect(served.warnings.count == 3)
        let services = served.services.map { GATTService($0, among: served.services) { _ in (nil, nil) } }
        var server = GATTServer(try AttributeDatabase(services, generic: nil))
        let client = ClientID(rawValue: 1)
        server.connect(client)
        // Handle 1 is the service, 2 and 3 are the battery level, 4 and 5 the notified characteristic, and 6
        // to 8 its descriptors.
        #expect(
            server.handle(.read(3), from: client, mtu: .default)
                == .respond(.error(ATTErrorResponse(.readRequest, 3, .readNotPermitted))))
        #expect(
            server.handle(.read(2), from: client, mtu: .default) == .respond(.read([0x02, 3, 0, 0x19, 0x2a])))
        #expect(
            server.handle(.read(4), from: client, mtu: .default) == .respond(.read([0x10, 5, 0, 0x1a, 0x2a])))
        #expect(server.handle(.read(7), from: client, mtu: .default) == .respond(.read([1, 0])))
        #expect(server.handle(.write(8, value: [1, 0]), from: client, mtu: .default) == .respond(.write))
        #expect(server.subscribers(of: 5).map(\.central) == [client])
        #expect(server.handle(.read(6), from: client, mtu: .default) == .respond(.read([1, 0])))
    }
}
