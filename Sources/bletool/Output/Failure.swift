import ATT
import BLE
import BLECore
import Glibc
import HCI
import HCISocket
import SMP
import SystemPackage

/// The reason why a command failed: one line of text, one JSON object, and an exit status for both.
struct Failure: Error, Hashable, Sendable {
    /// The kind of failure: `kind` in JSON.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The command line is invalid.
        case usage
        /// A value, a file or a configuration is invalid.
        case input
        case notFound
        /// The time limit passed.
        case timeout
        /// The adapter is missing or cannot be used.
        case adapter
        /// The process lacks a permission.
        case permission
        /// The peer's server answered with an ATT error.
        case att
        /// Pairing or encryption failed.
        case security
        /// The link was lost, or data were not sent.
        case linkLost
        /// The peer broke the specification. Its link is up.
        case peer

        /// The exit status for this kind of failure.
        var status: ExitStatus {
            switch self {
            case .usage, .input: .badInput
            case .notFound, .timeout: .notFound
            case .adapter: .adapter
            case .permission: .permission
            case .att: .att
            case .security: .security
            case .linkLost, .peer: .linkLost
            }
        }
    }

    var kind: Kind
    /// The subject of the failure: an option, a file and its line, a device.
    var what: String
    var why: String
    /// A suggestion for solving the problem, if there is one.
    var hint: String?
    /// The number of the error, if it has one: an ATT error code, an HCI status, an errno.
    var number: Int?
    /// The line of the file that `what` names, if there is one.
    var line: Int?
    /// Whether the results already contain the failure, so that `--json` prints no further object.
    var isShown = false

    /// Whether the result was shown all the same, so that a script goes on.
    var isAfterResult = false

    init(
        _ kind: Kind, _ what: String, _ why: String, hint: String? = nil, number: Int? = nil,
        isShown: Bool = false
    ) {
        self.kind = kind
        self.what = what
        self.why = why
        self.hint = hint
        self.number = number
        self.isShown = isShown
    }

    /// Creates the failure for an invalid value of the option or file that `what` names.
    init(_ what: String, _ problem: BadInput, kind: Kind = .usage) {
        self.init(kind, what, problem.reason, hint: problem.hint)
    }

    /// `WHAT: WHY`, on one line and safe on a terminal.
    var message: String { (what.isEmpty ? why : "\(what): \(why)").oneLine }

    /// The lines on stderr: `bletool: WHAT: WHY`, and a line with the hint.
    var lines: [String] { ["bletool: \(message)"] + (hint.map { ["hint: \($0.oneLine)"] } ?? []) }

    /// The last line of stdout with `--json`. `code` is the exit status; `number`, `line` and `hint` are present
    /// only if the error has them.
    var json: JSONValue {
        .object(
            [
                .init("event", "error"), .init("kind", .string(kind.rawValue)),
                .init("message", .string(message)),
                .init("code", JSONValue(kind.status.rawValue)),
            ] + (number.map { [.init("number", JSONValue($0))] } ?? [])
                + (line.map { [.init("line", JSONValue($0))] } ?? [])
                + (hint.map { [.init("hint", .string($0.oneLine))] } ?? []))
    }
}

extension String {
    /// The text with spaces in place of line ends, and safe on a terminal.
    fileprivate var oneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").printable
    }
}

/// Returns the result of `body`, which reads what `what` names. A failure names it, too.
func reading<Value>(_ what: String, _ body: () throws -> Value) throws(Failure) -> Value {
    do {
        return try body()
    } catch {
        throw Failure(what, BadInput(caught: error))
    }
}

extension Failure {
    /// Creates the failure that the user sees for an error of the library.
    init(_ error: BLEError, while doing: String) {
        switch error {
        case .adapter(let problem): self.init(problem, while: doing)
        case .permission(let capability, let operation):
            self.init(
                .permission, "\(operation)", "needs \(capability)",
                hint: Grant.hint())
        case .fileAccess(let path):
            self.init(.permission, doing, "\(error)", hint: "\(Grant.command(file: path)), then log in again")
        case .unknownIdentity:
            self.init(
                .permission, doing, "\(error)",
                hint: "run as root; mount -t debugfs debugfs /sys/kernel/debug, if it is not mounted")
        case .att(let response):
            let isSecurity = [
                .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort,
            ]
            .contains(response.code)
            self.init(
                isSecurity ? .security : .att, doing, "\(response)",
                hint: isSecurity ? Self.security(wanted: response.code) : Self.remedy(response.code, doing),
                number: Int(response.code.rawValue))
        case .databaseChanged: self.init(.att, doing, "\(error)", hint: "run it again", number: 0x12)
        case .cannotPair(.requirements):
            self.init(
                .security, doing, "\(error)",
                hint:
                    "--io sets what this side can show and enter; --passkey, or the user at the terminal, answers"
            )
        case .pairing(let failure): self.init(.security, doing, "\(error)", hint: Self.remedy(failure))
        case .cannotPair: self.init(.security, doing, "\(error)")
        case .bondLost(let peer):
            // Commands with a DEVICE name it already.
            let isNamed = ["\(peer)", peer.text].contains(doing)
            let problem = "\(error)".dropFirst(isNamed ? "\(peer)".count + 1 : 0)
            self.init(
                .security, doing, String(problem),
                hint:
                    "if it is the same device, bletool bonds remove \(peer) (with this command's --state-dir, if any), then pair again; --plain-text uses the link without encryption"
            )
        case .noSigningKey(let peer):
            self.init(.security, doing, "\(error)", hint: "bletool pair \(peer.text), then write again")
        case .kernelPairing, .countersUsedUp: self.init(.security, doing, "\(error)")
        case .encryption(let status):
            self.init(
                .security, doing, "\(error)",
                hint: Self.remedy(encryption: status), number: Int(status.rawValue))
        case .disconnected(.status(.connectionTerminatedMICFailure)):
            // The key of the link is not the one of the device.
            self.init(
                .security, doing, "\(error)", hint: Self.remedy(encryption: .connectionTerminatedMICFailure),
                number: Int(HCIStatus.connectionTerminatedMICFailure.rawValue))
        case .disconnected(let reason), .connectFailed(let reason):
            self.init(.linkLost, doing, "\(error)", number: reason.number)
        case .timedOut(.connecting, _):
            self.init(
                .timeout, doing, "\(error)",
                hint: "is the device in range and connectable? bletool scan shows whether it is")
        case .timedOut(.mtuExchange, _):
            self.init(
                .timeout, doing, "\(error)",
                hint: "bletool gatt DEVICE … --mtu 23 connects without the exchange")
        case .timedOut: self.init(.timeout, doing, "\(error)")
        case .notFound: self.init(.notFound, doing, "\(error)")
        case .hci(let status, _): self.init(.adapter, doing, "\(error)", number: Int(status.rawValue))
        case .port(.system(.permissionDenied, _)), .port(.system(.notPermitted, _)),
            .bonds(.system(.permissionDenied, _)), .bonds(.system(.notPermitted, _)),
            .restoration(.state(.system(.permissionDenied, _))):
            self.init(.permission, doing, "\(error)", hint: "run as a user who may use it")
        case .port(.folder):
            self.init(
                .permission, doing, "\(error)",
                hint: "XDG_RUNTIME_DIR names another folder, BLETOOL_AIR=PATH another virtual air")
        case .bonds(.folder), .restoration(.state(.folder)):
            self.init(.permission, doing, "\(error)", hint: "--state-dir names another folder")
        case .busy, .controllerSilent, .controllerMisbehaved, .port, .managementRefused, .managementMalformed:
            self.init(.adapter, doing, "\(error)")
        case .parametersRefused: self.init(.linkLost, doing, "\(error)", number: 0x3b)
        case .invalidRequest(.notSubscribable(let uuid, _)):
            // The UUID is named only once.
            let prefix = "characteristic \(uuid) "
            let why = "\(error)"
            let isNamed = doing == "\(uuid)" && why.hasPrefix(prefix)
            self.init(
                .input, doing, isNamed ? String(why.dropFirst(prefix.count)) : why, hint: Self.tree)
        case .limit, .outOfRange, .timeOutOfRange, .invalidRequest, .database, .advertising, .bonds,
            .restoration:
            self.init(.input, doing, "\(error)")
        case .peerMisbehaved: self.init(.peer, doing, "\(error)")
        case .overflow, .syncLost, .unsent: self.init(.linkLost, doing, "\(error)")
        case .cancelled: self.init(.timeout, doing, "cancelled")
        }
    }

    private static let tree = "bletool gatt DEVICE tree shows what each characteristic can do"

    /// Returns a hint about a request that an attribute does not support.
    private static func remedy(_ code: ATTErrorCode, _ doing: String) -> String? {
        switch code {
        case .invalidHandle where doing.hasPrefix("0x"):
            "\(doing) is a handle here: UUIDs are written without 0x"
        case .readNotPermitted, .writeNotPermitted, .requestNotSupported: tree
        default: nil
        }
    }

    /// Returns a hint about an attribute that requires a higher security level.
    private static func security(wanted code: ATTErrorCode) -> String {
        code == .insufficientAuthentication
            ? "the attribute requires pairing: bletool pair DEVICE [--passkey DIGITS]"
            : "the attribute requires encryption, or a higher security level: bletool pair DEVICE, or --security"
    }

    /// Returns a hint about a controller on a serial port that does not answer.
    static func silentSerialPort(_ path: String, _ baud: UInt32, _ flowControl: Bool) -> String {
        """
        does the controller speak H4, at \(baud) Bd, \(flowControl ? "with" : "without") RTS/CTS? \
        serial:\(path)?baud=\(baud == 115_200 ? 1_000_000 : 115_200)&flow=\(flowControl ? "off" : "on") is \
        another setting
        """
    }

    /// Returns a hint about a link that cannot be encrypted, or whose encryption failed.
    private static func remedy(encryption status: HCIStatus) -> String? {
        switch status {
        case .pinOrKeyMissing: "the device has forgotten this host: remove its bond"
        case .connectionTerminatedMICFailure:
            "the device has another key, or another device uses its address: if it is the same device, remove its bond and pair again"
        default: nil
        }
    }

    /// A possible reason why a device always rejects pairing without giving a reason.
    private static let leftover =
        "a device that still has a bond which this host has lost may refuse until the bond is removed there"

    /// Returns a hint about a device that did not pair.
    private static func remedy(_ failure: PairingFailure) -> String? {
        switch failure {
        case .peer(.confirmValueFailed), .local(.confirmValueFailed):
            "the two sides have different passkeys"
        case .peer(.repeatedAttempts), .local(.repeatedAttempts):
            "after each failure, the time before the next attempt doubles: one second, two, four; \(leftover)"
        case .peer(.unspecifiedReason): leftover
        case .local(.encryptionKeySize):
            "the device supports only shorter keys, which are easier to guess; --min-key-size accepts them"
        case .peer(.authenticationRequirements), .local(.authenticationRequirements):
            "the two devices have no common method of authentication: --io and --passkey set those of this "
                + "side, and --accept-comparison is none; --security medium needs none"
        default: nil
        }
    }

    private init(_ problem: AdapterProblem, while doing: String) {
        let virtual = "without a radio, commands with --adapter virtual work on a simulated controller"
        let hint: String? =
            switch problem {
            case .missing, .noAdapter: virtual
            case .noBluetooth: "modprobe bluetooth, if the kernel has it as a module; \(virtual)"
            case .isolated:
                """
                run it in the host's network namespace (docker run --network=host, nsenter -t 1 -n) and let it \
                open AF_BLUETOOTH sockets (RestrictAddressFamilies of a systemd unit); \(virtual)
                """
            case .blocked(.software): "rfkill unblock bluetooth"
            case .blocked(.hardware): "rfkill list shows which switch it is"
            case .pairedBy:
                """
                pair and list bonds with bluetoothctl, or stop bluetoothd (systemctl stop bluetooth); a device that is \
                bonded here needs its key: bletool bonds remove DEVICE, or --plain-text
                """
            case .poweredOff: "bluetoothctl power on, or run with CAP_NET_ADMIN"
            case .cannotPower, .notSetUp:
                "dmesg | grep -iE 'bluetooth|firmware' shows why: often the firmware's package is not installed"
            case .failed:
                """
                run the command again, which power-cycles the adapter of user:hciN; otherwise unplug it and \
                plug it in again, or reload its driver
                """
            case .unreachable(let address, _): address.hint
            case .inUse(.process):
                "give another name: --adapter virtual:NAME, or virtual alone for a new controller"
            case .inUse(.userChannel), .inUse(.powerSwitch), .inUse(.server):
                "end that program, or use another adapter: bletool adapters lists them"
            case .inUse(.serialPort): "end that program"
            case .inUse(.advertising): nil
            case .unsupported(.kernelPeriodicSync): "--adapter user:hciN takes the adapter from the kernel"
            case .hungUp(.air):
                "the program that ran it has ended; bletool air runs one until it is stopped"
            case .notSerial, .unsupported, .removed, .hungUp, .closed: nil
            }
        self.init(.adapter, doing, "\(problem)", hint: hint)
    }
}

extension StreamAddress {
    /// What helps when nothing listens there.
    fileprivate var hint: String? {
        let command = "bletool air --listen \(self) starts a virtual air there"
        switch self {
        case .tcp(let host, _):
            return host == "localhost" || host == "::1" || host.hasPrefix("127.") ? command : nil
        case .unix(let path):
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
                return "\(path.quoted) is not a socket"
            }
            let folder = File.folder(of: path)
            return access(folder, F_OK) == 0 ? command : "there is no folder \(folder.quoted)"
        }
    }
}

extension DisconnectReason {
    /// The number of the reason, if it has one.
    var number: Int? {
        switch self {
        case .status(let status): Int(status.rawValue)
        case .errno(let number): Int(number)
        case .unknown: nil
        }
    }
}

/// The commands that grant this tool the permissions that it lacks.
enum Grant {
    /// The command that gives this user the capabilities.
    static var command: String {
        PermittedCopy()?.grant ?? "sudo setcap cap_net_raw,cap_net_admin+ep bletool"
    }

    /// Returns how this process gets the capabilities.
    static func hint(hasNoNewPrivileges: Bool = Diagnosis.hasNoNewPrivileges) -> String {
        hasNoNewPrivileges
            ? "no_new_privs keeps this process from getting capabilities from its file: start it with them"
            : "\(command), or run as root"
    }

    /// Returns the command that adds the user to the group of a device's file.
    static func command(file path: String) -> String { "sudo usermod -aG $(stat -c %G \(path)) $USER" }
}
