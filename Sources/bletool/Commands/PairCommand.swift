import ArgumentParser
import BLE
import BLECore
import GATTServer
import HCISocket

struct PairCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Pair with a device, so that its links are encrypted from now on.",
        discussion: """
            Which method is used depends on what both sides can display and enter. For this side, --io states it, \
            and --passkey, --passkey-file and --accept-comparison imply it. Without these options it can do \
            neither, so that the devices pair by Just Works (level medium). With --io alone, the user enters the \
            passkey or confirms the comparison at the terminal. The link to a bonded device is encrypted with the \
            bond's key, if that key is strong enough. No keys for BR/EDR are derived (CTKD).

            Out of band: what one device writes with --oob-offer, the other reads with --oob-data. One file \
            in one direction is enough; with one in each direction, both devices authenticate each other.
            """)

    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String

    @Option(
        help: ArgumentHelp(
            """
            The security level to reach: medium, high, fips. Default: medium; high with --passkey, \
            --passkey-file, and out of band.
            """, valueName: "level"))
    var security: SecurityLevel?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up connecting after this time; default: 20s.", valueName: "duration"))
    var connectTimeout: String?

    @OptionGroup(title: "Pairing options") var pairing: PairingArguments
    @OptionGroup var global: GlobalOptions

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await pairing.options(console, needsFolder: true)
    }

    func check() throws(Failure) {
        _ = try DeviceSelector.parsed(device)
        _ = try duration(connectTimeout, of: "--connect-timeout")
        try pairing.outOfBand.check(readsNow: true)
        guard security != .open else {
            throw Failure(
                .usage, "--security", "low needs no pairing", hint: "medium, high or fips")
        }
    }

    func run(_ radio: Radio) async throws(Failure) {
        try await pairing.outOfBand.writeOffer(of: radio)
        var options = ConnectionOptions()
        // Pairing itself encrypts the link with the bond's key, or fails.
        options.encryptsIfBonded = false
        let peripheral = try await radio.connect(
            to: try DeviceSelector.parsed(device), options,
            within: try duration(connectTimeout, of: "--connect-timeout"))
        let peer = peripheral.address
        let level = security ?? (pairing.authenticates ? .authenticated : .encrypted)
        try await radio.ending(peripheral) { () throws(Failure) in
            let device = ConnectedDevice(peripheral: peripheral, radio: radio)
            let security = try await device.attempt(peer.text) { () throws(BLEError) in
                try await peripheral.pair(level)
            }
            let identity = await peripheral.id.address
            radio.console.show(PairedEvent(peer: peer, identity: identity, security: security))
        }
    }
}

/// The result of `pair`: two devices are paired, or already were.
struct PairedEvent: Event {
    var peer: DeviceAddress
    /// The address by which the bond names the device, if `peer` is a private one.
    var identity: DeviceAddress
    /// The security of the link after pairing.
    var security: LinkSecurity

    /// Whether the pairing was protected against a man in the middle. Just Works is not.
    private var isAuthenticated: Bool { security.level >= .authenticated }

    var json: JSONValue {
        [
            "event": "paired", "address": JSONValue(peer), "addressType": JSONValue(typeOf: peer),
            "identity": JSONValue(identity == peer ? nil : identity),
            "level": JSONValue(security.reached.kernelName), "keySize": JSONValue(security.keySize),
            "bonded": JSONValue(security.isBonded), "authenticated": .bool(isAuthenticated),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let how = security.isBonded ? "paired and bonded" : "paired for this link"
        let device = Style.cyan(peer.text, when: colored) + (identity == peer ? "" : "  is \(identity)")
        return [
            "\(device) \(how)  level \(security.reached.kernelName)  key of \(security.keySize) octets"
                + (isAuthenticated
                    ? "" : "  not authenticated: Just Works, without passkey or comparison")
        ]
    }
}
