import ArgumentParser
import BLE
import BLECore
import SMP

/// The options of pairing: capabilities, passkeys, out-of-band data.
struct PairingArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What this side can display and enter. Default: what the other options imply: a passkey is \
            displayed by serve and entered by other commands; otherwise none.
            """,
            valueName: "capability"))
    var io: SecurityConfiguration.InputOutput?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The passkey to display or to enter, six digits.", valueName: "digits"))
    var passkey: String?

    @Option(
        help: ArgumentHelp("A file whose first line is the passkey.", valueName: "file"), completion: .file())
    var passkeyFile: String?

    @Flag(
        help: """
            Confirm numeric comparison without comparing the numbers. Such a pairing is not authenticated: it reaches \
            level medium, as Just Works does.
            """)
    var acceptComparison = false

    @Flag(
        help: """
            Pair only with LE Secure Connections and keys of 16 octets. Just Works is still allowed unless a \
            higher level is required.
            """)
    var secureConnectionsOnly = false

    @Option(
        help: ArgumentHelp(
            "The minimum key size, 7 to 16 octets; default: 16. Some old devices have shorter keys.",
            valueName: "octets"))
    var minKeySize: Int?

    @Option(
        help: ArgumentHelp(
            """
            Write the out-of-band data for the peer, before anything else is done. Take it to the peer over \
            a channel that no attacker can read.
            """, valueName: "file"), completion: .file())
    var oobOffer: String?

    @Flag(help: "Offer a temporary key for LE legacy pairing, for peers without Secure Connections.")
    var oobLegacy = false

    @Option(
        help: ArgumentHelp(
            """
            The peer's out-of-band data: a file of --oob-offer, or the record of an NFC tag \
            (application/vnd.bluetooth.le.oob), in hex or binary. A server reads it when a device pairs.
            """, valueName: "file"), completion: .file())
    var oobData: [String] = []

    @OptionGroup var state: StateOptions

    static let flags = ["--accept-comparison", "--secure-connections-only", "--oob-legacy"]
    static let valued = [
        "--io", "--passkey", "--passkey-file", "--min-key-size", "--oob-offer", "--oob-data", "--state-dir",
    ]
}

extension SecurityConfiguration.InputOutput: ExpressibleByArgument {
    /// The capability with the specification's names.
    var capability: IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .displayYesNo: .displayYesNo
        case .keyboard: .keyboardOnly
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}

extension PairingArguments {
    /// The options for pairing out of band.
    var outOfBand: OutOfBandArguments {
        OutOfBandArguments(offer: oobOffer, isLegacy: oobLegacy, data: oobData)
    }

    /// Returns the security options of the command line. Those in `configured`, of the configuration, apply
    /// where the command line has none. If `needsFolder`, bonds that cannot be stored are an error instead of
    /// a note. `showsPairing` is true if the command does not show a pairing itself. `hasPassingAddress` is
    /// true if the adapter has its address for this run only. Its bonds are useless afterwards, and are stored
    /// only with `--state-dir`. `role` is that of the links on which it pairs.
    func options(
        _ console: Console, configured: SecurityConfiguration = SecurityConfiguration(),
        role: LinkRole = .central,
        needsFolder: Bool = false, showsPairing: Bool = false, hasPassingAddress: Bool = false
    ) async throws(Failure) -> SecurityOptions {
        var options = SecurityOptions()
        var agent = try agent(console, configured: configured.io, role: role)
        agent.showsPairing = showsPairing
        agent.stateDir = state.stateDir
        let storesBonds = !hasPassingAddress || state.stateDir != nil
        agent.storesBonds = storesBonds
        agent.replacement = configured.replacement
        options.isBonding = configured.isBonding
        options.delegate = agent
        options.fixedPasskey = agent.passkey
        options.minimumKeySize = try minimumKeySize()
        try outOfBand.apply(to: &options)
        if secureConnectionsOnly || configured.isSecureConnectionsOnly { options.secureConnections = .only }
        options.managesKernelPairing = needsFolder || managesKernelPairing(configured)
        if storesBonds { try await state.apply(to: &options, console, needsFolder: needsFolder) }
        return options
    }

    /// Whether the command line has an answer that authenticates the devices. A user who gives one requires
    /// an authenticated link.
    var authenticates: Bool {
        passkey != nil || passkeyFile != nil || outOfBand.isUsed
    }

    /// Whether the command line has any options for pairing.
    private var selectsMethod: Bool {
        io != nil || acceptComparison || authenticates || state.stateDir != nil || secureConnectionsOnly
            || minKeySize != nil
    }

    /// Returns the minimum encryption key size in octets.
    func minimumKeySize() throws(Failure) -> Int {
        let size = minKeySize ?? SecurityOptions().minimumKeySize
        guard (7...16).contains(size) else {
            throw Failure(.usage, "--min-key-size", "a key has 7 to 16 octets, not \(size)")
        }
        return size
    }

    /// Returns whether pairing can produce an authenticated key, which is impossible if nothing can be
    /// displayed or entered. If the pairing of a kernel adapter is left to the kernel, another program may
    /// ask the user.
    func mayAuthenticate(configured: SecurityConfiguration, on adapter: AdapterSpecification?) -> Bool {
        let isKernel: Bool
        switch adapter {
        case nil, .kernel?: isKernel = true
        default: isKernel = false
        }
        return outOfBand.isUsed || inputOutput(configured: configured.io) != .none
            || isKernel && !managesKernelPairing(configured)
    }

    /// Returns whether this command manages pairing on kernel adapters. If neither the command line nor the
    /// configuration has settings for pairing, pairing stays as the kernel does it.
    private func managesKernelPairing(_ configured: SecurityConfiguration) -> Bool {
        selectsMethod || configured != SecurityConfiguration()
    }

    /// Returns the input and output capabilities: those of the command line, otherwise those of the
    /// configuration, otherwise those that the other options imply. A passkey alone is displayed by a
    /// peripheral and entered by a central. If both sides could do both, LE Secure Connections would compare
    /// numbers, and ask for no passkey (Core Specification 5.4, Vol 3, Part H, 2.3.5.1).
    func inputOutput(
        configured: SecurityConfiguration.InputOutput, role: LinkRole = .central
    ) -> SecurityConfiguration.InputOutput {
        if let io { return io }
        guard configured == .none else { return configured }
        let hasPasskey = passkey != nil || passkeyFile != nil
        switch (hasPasskey, acceptComparison) {
        case (true, true): return .keyboardDisplay
        case (true, false): return role == .peripheral ? .display : .keyboard
        case (false, true): return .displayYesNo
        case (false, false): return .none
        }
    }

    /// Makes the delegate that answers from these options, or asks at the terminal.
    private func agent(
        _ console: Console, configured: SecurityConfiguration.InputOutput, role: LinkRole
    ) throws(Failure) -> PairingAgent {
        PairingAgent(
            ioCapability: inputOutput(configured: configured, role: role).capability, console: console,
            passkey: try givenPasskey(), acceptsComparison: acceptComparison, outOfBand: outOfBand)
    }

    private func givenPasskey() throws(Failure) -> Passkey? {
        guard passkey == nil || passkeyFile == nil else {
            throw Failure(.usage, "--passkey-file", "and --passkey cannot both be given")
        }
        if let passkey { return try read(passkey, from: "--passkey") }
        guard let passkeyFile else { return nil }
        let text: [UInt8]
        do throws(BadInput) {
            text = try File.contents(passkeyFile, limit: 4096, takesPipes: true)
        } catch {
            throw Failure("--passkey-file \(passkeyFile.printable)", error, kind: .input)
        }
        let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return try read(String(decoding: line, as: UTF8.self), from: "--passkey-file")
    }

    private func read(_ text: String, from place: String) throws(Failure) -> Passkey {
        guard let passkey = Passkey(text) else {
            throw Failure(.usage, place, "a passkey has six digits, as 012345")
        }
        return passkey
    }
}
