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
            return ["\(status)\(subject): \(check.message)".printable] + (fix.map { [$0] } ?? [])
        } + [
            "may     " + list(abilities.filter { $0.missing.isEmpty }),
            "may not " + list(abilities.filter { !$0.missing.isEmpty }),
        ]
    }

    private func list(_ abilities: [Ability]) -> String {
        abilities.isEmpty ? "-" : abilities.map(\.name).joined(separator: ", ")
    }
}
