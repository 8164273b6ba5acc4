import ATT
import ArgumentParser
import BLE
import BLECore
import HCISocket

/// The options of a link, for commands that connect.
struct LinkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ATT_MTU to offer, 23 to 517 octets.", valueName: "octets"))
    var mtu: String?

    @Option(help: ArgumentHelp("The security level to reach first; default: low.", valueName: "level"))
    var security: SecurityLevel?

    @Flag(
        help: """
            Do not encrypt the link to a bonded device. Without this, a device that does not have the key of its bond \
            is an error (status 6), because another device may use its address.
            """)
    var plainText = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up connecting after this time; default: 20s.", valueName: "duration"))
    var connectTimeout: String?

    @Option(
        help: ArgumentHelp("The connection interval, 7.5ms to 4s: 15ms-30ms.", valueName: "min-max"))
    var interval: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The latency: connection events that the device may skip, 0 to 499.", valueName: "count"))
    var latency: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The supervision timeout, 100ms to 32s.", valueName: "duration"))
    var supervision: String?

    @Option(
        help: ArgumentHelp("The PHY to use if the device supports it: 1m, 2m or coded.", valueName: "phy"))
    var phy: PHYWord?

    static let flags = ["--plain-text"]
    static let valued = [
        "--mtu", "--security", "--connect-timeout", "--interval", "--latency", "--supervision", "--phy",
    ]
}

extension LinkOptions {
    /// Checks the options before a radio is used.
    func check() throws(Failure) {
        _ = try connection()
        _ = try timeLimit()
    }

    /// Returns the connection options that the arguments request.
    func connection() throws(Failure) -> ConnectionOptions {
        var connection = ConnectionOptions()
        if let mtu {
            let octets = try reading("--mtu") { () throws(BadInput) in
                try UInt16(text: mtu, in: 23...517, "the MTU")
            }
            connection.mtu = ATTMTU(octets)
        }
        connection.security = security ?? .open
        connection.encryptsIfBonded = !plainText
        connection.parameters = try parameters()
        connection.phys = phy.map { [$0.phy] }
        return connection
    }

    private func parameters() throws(Failure) -> ConnectionParameters? {
        guard interval != nil || latency != nil || supervision != nil else { return nil }
        var parameters = ConnectionParameters()
        if let interval {
            parameters.interval = try reading("--interval") { () throws(BadInput) in
                try ClosedRange(text: interval, within: .microseconds(7500) ... .seconds(4))
            }
        }
        if let latency {
            parameters.latency = Int(
                try reading("--latency") { () throws(BadInput) in
                    try UInt16(text: latency, in: 0...499, "the latency")
                })
        }
        if let supervision {
            let range = try reading("--supervision") { () throws(BadInput) in
                try ClosedRange(text: supervision, within: .milliseconds(100) ... .seconds(32))
            }
            parameters.supervisionTimeout = range.upperBound
        }
        // Core Specification 5.4, Vol 4, Part E, 7.8.12.
        let least = parameters.interval.upperBound * 2 * (1 + parameters.latency)
        if supervision == nil {
            parameters.supervisionTimeout = max(parameters.supervisionTimeout, least + .seconds(1))
        }
        guard parameters.supervisionTimeout > least, parameters.supervisionTimeout <= .seconds(32) else {
            throw Failure(
                .usage, supervision == nil ? "--latency" : "--supervision",
                "a supervision timeout of \(parameters.supervisionTimeout.text) is not possible",
                hint:
                    "the supervision timeout must be more than \(least.text), which is twice the interval "
                    + "times (latency + 1), and at most 32s")
        }
        return parameters
    }

    /// Returns the time limit for connecting, or nil if `--connect-timeout` is not given.
    func timeLimit() throws(Failure) -> Duration? {
        try duration(connectTimeout, of: "--connect-timeout")
    }
}

/// The values of `--security`: the level names of gatttool and the kernel, or those of configurations and the
/// library.
extension SecurityLevel: ExpressibleByArgument {
    /// Creates the level that an argument names, or returns nil if it names none.
    public init?(argument: String) {
        let level = Self.allCases.first { [$0.kernelName, $0.configurationWord].contains(argument) }
        guard let level else { return nil }
        self = level
    }

    /// The level names, for help and completion, instead of the kernel's numbers.
    public static var allValueStrings: [String] {
        allCases.map(\.kernelName) + allCases.map(\.configurationWord)
    }
    /// No descriptions, because the names explain themselves.
    public static var allValueDescriptions: [String: String] { [:] }

    /// The name of the level where help shows it as a default.
    public var defaultValueDescription: String { kernelName }
}
