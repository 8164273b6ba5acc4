import BLE
import BLECore
import HCISocket

/// The report of `doctor` on a diagnosis: checks with their fixes, and the abilities of this process.
struct DoctorReport: Hashable, Sendable {
    /// The result of a check.
    enum Status: String, Hashable, Sendable {
        /// The check found no problem.
        case ok
        /// A remark; no feature is missing.
        case note
        case problem
    }

    /// A check and its result.
    struct Check: Hashable, Sendable {
        /// The name: `sockets`, `capabilities`, `rfkill`, `bluetoothd`, `adapter`, `serial`.
        var name: String
        /// The object that was checked, if there can be several: `hci0`.
        var subject: String?
        /// The result of the check.
        var status: Status
        var message: String
        /// The command or other action that fixes the problem.
        var fix: String?
        /// The kind of failure with which the command ends because of the problem, or nil if it does not.
        var kind: Failure.Kind?
    }

    /// An ability of the tool, and whether this process has it.
    struct Ability: Hashable, Sendable {
        /// The name of the ability, as in `scan`.
        var name: String
        /// What the process lacks for the ability; empty if it has the ability.
        var missing: [String]
    }

    var checks: [Check]
    /// The abilities on kernel adapters, and those that need no kernel adapter.
    var abilities: [Ability]

    /// The problem that prevents the use of kernel adapters, if there is one. A missing adapter has
    /// precedence over a missing permission.
    var failure: Failure? {
        let problems = checks.filter { $0.status == .problem }
        let first = problems.first { $0.kind == .adapter } ?? problems.first { $0.kind != nil }
        return first.map { Failure($0.kind ?? .adapter, $0.subject ?? $0.name, $0.message, hint: $0.fix) }
    }
}

extension DoctorReport {
    /// Creates the report on a diagnosis.
    init(_ diagnosis: Diagnosis) {
        checks = [Self.sockets(diagnosis), Self.capabilities(diagnosis)]
        checks += Self.besideUsable(diagnosis.switches.map(Self.check), diagnosis)
        checks += Self.daemon(diagnosis)
        checks += Self.besideUsable(Self.adapters(diagnosis), diagnosis)
        checks += diagnosis.serialPorts.filter { !$0.isAccessible }.map { port in
            Check(
                name: "serial", subject: port.path, status: .note, message: "this user may not use it",
                fix: "\(Grant.command(file: port.path)), then log in again")
        }
        abilities = Self.abilities(diagnosis)
    }

    private static func sockets(_ diagnosis: Diagnosis) -> Check {
        guard let error = diagnosis.listingError else {
            return Check(name: "sockets", status: .ok, message: "the kernel's Bluetooth can be used")
        }
        let failure = Failure(error, while: "sockets")
        return Check(
            name: "sockets", status: .problem, message: "\(error)", fix: failure.hint, kind: failure.kind)
    }

    private static func capabilities(_ diagnosis: Diagnosis) -> Check {
        let missing = Capability.allCases.filter { !diagnosis.capabilities.contains($0) }.map(\.rawValue)
        guard !missing.isEmpty else {
            let all = Capability.allCases.map(\.rawValue).joined(lastBy: "and")
            return Check(name: "capabilities", status: .ok, message: "this process has \(all)")
        }
        return Check(
            name: "capabilities", status: .problem,
            message: "this process lacks \(missing.joined(lastBy: "and"))",
            fix: Grant.hint(hasNoNewPrivileges: diagnosis.hasNoNewPrivileges), kind: .permission)
    }

    /// Returns the checks of radios with notes in place of problems if another adapter can be used.
    private static func besideUsable(_ checks: [Check], _ diagnosis: Diagnosis) -> [Check] {
        guard !diagnosis.usableAdapters.isEmpty else { return checks }
        return checks.map { check in
            var check = check
            if check.status == .problem { (check.status, check.kind) = (.note, nil) }
            return check
        }
    }

    private static func check(_ radio: RadioSwitch) -> Check {
        guard let block = radio.block else {
            return Check(name: "rfkill", subject: radio.name, status: .ok, message: "not blocked")
        }
        let failure = Failure(.adapter(.blocked(block)), while: radio.name)
        return Check(
            name: "rfkill", subject: radio.name, status: .problem, message: failure.why, fix: failure.hint,
            kind: .adapter)
    }

    private static func daemon(_ diagnosis: Diagnosis) -> [Check] {
        guard let process = diagnosis.bluetoothDaemon else { return [] }
        let message =
            "it is running (process \(process)) and shares the adapters: centrals connect to bluetoothd or "
            + "`serve`, whichever was started last"
        return [
            Check(
                name: "bluetoothd", status: .note, message: message,
                fix:
                    "systemctl stop bluetooth, or serve with --adapter user:hci0, which no other program shares"
            )
        ]
    }

    private static func adapters(_ diagnosis: Diagnosis) -> [Check] {
        guard diagnosis.listingError == nil else { return [] }
        guard !diagnosis.adapters.isEmpty else {
            let failure = Failure(.adapter(.noAdapter), while: "adapter")
            return [
                Check(
                    name: "adapter", status: .problem, message: failure.why, fix: failure.hint, kind: .adapter
                )
            ]
        }
        return diagnosis.adapters.map { check($0, diagnosis) }
    }

    private static func check(_ adapter: AdapterDescription, _ diagnosis: Diagnosis) -> Check {
        let name = "hci\(adapter.index)"
        let problem: AdapterProblem? =
            switch adapter.availability {
            case .taken: .inUse(.userChannel(diagnosis.userChannelHolders))
            case .notSetUp: .notSetUp(adapter.index)
            case .available:
                adapter.supported.contains(.lowEnergy) ? nil : .unsupported(.lowEnergy)
            }
        if let problem {
            let failure = Failure(.adapter(problem), while: name)
            return Check(
                name: "adapter", subject: name, status: .problem, message: failure.why, fix: failure.hint,
                kind: .adapter)
        }
        let isOn = adapter.current.contains(.powered)
        let state = isOn ? "on" : "off; commands switch it on while they run, which needs CAP_NET_ADMIN"
        return Check(
            name: "adapter", subject: name, status: isOn ? .ok : .note,
            message: "\(adapter.address.text) is \(state)")
    }

    private static func abilities(_ diagnosis: Diagnosis) -> [Ability] {
        func missing(_ needed: [Capability]) -> [String] {
            if diagnosis.listingError != nil { return ["sockets"] }
            let lacks = needed.filter { !diagnosis.capabilities.contains($0) }.map(\.rawValue)
            return (diagnosis.usableAdapters.isEmpty ? ["adapter"] : []) + lacks
        }
        // On an adapter that is powered off, commands first power it on.
        let isOff = diagnosis.usableAdapters.first.map { !$0.isPowered } ?? false
        let radio: [Capability] = isOff ? [.netRaw, .netAdmin] : [.netRaw]
        return ["scan", "advertise", "serve", "gatt"].map { Ability(name: $0, missing: missing(radio)) } + [
            // The monitor channel reports all adapters, in whatever state.
            Ability(name: "capture", missing: missing([.netRaw]).filter { $0 != "adapter" }),
            Ability(name: "power", missing: missing([.netAdmin])),
            Ability(name: "user", missing: missing([.netAdmin])),
            Ability(name: "virtual", missing: []),
        ]
    }
}

extension Diagnosis {
    /// The adapters that commands can use. The first one is the default.
    fileprivate var usableAdapters: [AdapterDescription] { adapters.filter { $0.isUsable(with: switches) } }
}

extension DoctorReport: Event {
    var json: JSONValue {
        [
            "event": "doctor", "ok": JSONValue(failure == nil),
            "checks": .array(
                checks.map { check in
                    [
                        "check": JSONValue(check.name), "subject": JSONValue(check.subject),
                        "status": JSONValue(check.status.rawValue), "message": JSONValue(check.message),
                        "fix": JSONValue(check.fix),
                    ]
                }),
            "may": .object(abilities.map { .init($0.name, JSONValue($0.missing.isEmpty)) }),
            "missing": .object(
                abilities.filter { !$0.missing.isEmpty }.map { ability in
                    .init(ability.name, .array(ability.missing.map { JSONValue($0) }))
                }),
        ]
    }

    func lines(colored: Bool) -> [String] {
        checks.flatMap { check -> [String] in
            let subject = [check.name, check.subject].compactMap(\.self).joined(separator: " ")
            let status: String =
                switch check.status {
                case .ok: "ok      "
                case .note: "note    "
                case .problem: Style.red("problem ", when: colored)
                }
            let fix = check.fix.map { "        " + Style.dim("fix: \($0)".printable, when: colored) }
            return [status + "\(subject): \(check.message)".printable] + (fix.map { [$0] } ?? [])
        } + [
            "may     " + list(abilities.filter { $0.missing.isEmpty }),
            "may not " + list(abilities.filter { !$0.missing.isEmpty }),
        ]
    }

    private func list(_ abilities: [Ability]) -> String {
        abilities.isEmpty ? "-" : abilities.map(\.name).joined(separator: ", ")
    }
}
