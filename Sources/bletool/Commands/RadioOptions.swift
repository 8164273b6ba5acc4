import ArgumentParser
import BLE
import BLECore

/// The options that select and configure a command's radio.
struct RadioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The adapter: hci0, hci:ADDRESS, hci:usb:PORT, user:hci0, serial:PATH (serial:PATH?baud=115200&flow=off; \
            default: 1000000, on), tcp:HOST:PORT, unix:PATH, virtual or virtual:NAME. Default: $BLETOOL_ADAPTER, else \
            the first kernel adapter.
            """, valueName: "spec"), completion: .list(["virtual", "hci0"]))
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "Record every HCI packet of the run, as btsnoop; replaces only an older recording.",
            valueName: "file"),
        completion: .file())
    var capture: String?

    @Flag(
        help: """
            Recover a failed controller at once, which ends its links. Without this, recovery waits until \
            they have ended.
            """)
    var recoverWithLinks = false

    @Flag(
        help: """
            Use resolvable private addresses, by which only bonded devices recognize this adapter. Not for \
            kernel adapters, whose privacy the kernel controls.
            """)
    var privacy = false

    @Option(
        help: ArgumentHelp(
            "How long each private address is used, 1s to 1h; default: 15m.", valueName: "duration"))
    var addressLifetime: String?
}

extension RadioOptions {
    /// Returns the adapter that the option or, without it, the environment specifies, or nil if neither does.
    func adapter(
        environment: (String) -> String? = Environment.value
    ) throws(Failure) -> AdapterSpecification? {
        if let adapter { return try specification(adapter, from: "--adapter") }
        guard let variable = environment("BLETOOL_ADAPTER"), !variable.isEmpty else { return nil }
        return try specification(variable, from: "BLETOOL_ADAPTER")
    }

    /// Returns whether the adapter is a virtual controller without a name, which has another address in each
    /// run.
    func hasPassingAddress(
        environment: (String) -> String? = Environment.value
    ) throws(Failure) -> Bool {
        try adapter(environment: environment) == .virtual(name: nil)
    }

    /// Whether the adapter is one of the kernel, as it is if none is named.
    var mayBeKernel: Bool {
        switch try? adapter() {
        case nil, .kernel?, .userChannel?: true
        case .serial?, .stream?, .virtual?: false
        }
    }

    private func specification(_ text: String, from place: String) throws(Failure) -> AdapterSpecification {
        try reading(place) { () throws(BadInput) in
            do throws(AdapterSpecificationError) {
                return try AdapterSpecification(text)
            } catch {
                throw BadInput(error)
            }
        }
    }

    /// Rejects the options of a radio for a command that opens no adapter, because they would be ignored.
    func refuse(for command: String) throws(Failure) {
        let given = [
            ("--adapter", adapter != nil), ("--capture", capture != nil),
            ("--recover-with-links", recoverWithLinks), ("--privacy", privacy),
            ("--address-lifetime", addressLifetime != nil),
        ]
        for (option, isGiven) in given where isGiven {
            throw .meaningless(option, to: "\(command), which opens no adapter")
        }
    }

    /// Reads the options about private addresses.
    func privacyOptions() throws(Failure) -> PrivacyOptions {
        var options = PrivacyOptions(isEnabled: privacy)
        guard let addressLifetime else { return options }
        guard privacy else { throw Failure(.usage, "--address-lifetime", "needs --privacy") }
        options.addressLifetime = try reading("--address-lifetime") { try Duration(text: addressLifetime) }
        guard PrivacyOptions.lifetimes.contains(options.addressLifetime) else {
            throw Failure(.usage, "--address-lifetime", "\(addressLifetime) is not between 1s and 1h")
        }
        return options
    }
}
