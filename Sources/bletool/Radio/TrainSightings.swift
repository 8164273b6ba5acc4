import BLE
import HCI

/// What a search for a periodic train has received of the device, for the message when it finds no train.
struct TrainSightings {
    private var wasHeard = false
    private var sets: Set<UInt8> = []

    /// One more packet of the device.
    mutating func add(_ report: AdvertisingReport) {
        wasHeard = true
        if let set = report.sid { sets.insert(set) }
    }

    /// Why there is no train, of the set `wanted` or any.
    func failure(_ selector: DeviceSelector, _ wanted: UInt8?, within limit: Duration) -> Failure {
        guard wasHeard else {
            return Failure(
                .notFound, "\(selector)", "not found within \(limit.text)",
                hint: "is it advertising? bletool scan shows what is")
        }
        guard let wanted else { return Failure(.notFound, "\(selector)", "it has no periodic train") }
        guard !sets.contains(wanted) else {
            return Failure(.notFound, "\(selector)", "its set \(wanted) has no periodic train")
        }
        let others = sets.sorted().map { "\($0)" }.joined(lastBy: "and")
        return Failure(
            .notFound, "\(selector)", "it has no set \(wanted)",
            hint: sets.isEmpty ? nil : "it advertises \(sets.count == 1 ? "set" : "sets") \(others)")
    }
}
