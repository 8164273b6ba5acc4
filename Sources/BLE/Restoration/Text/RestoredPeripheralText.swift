import ATT
import BLECore

/// The text of a device to connect to again, in a file.
extension RestoredPeripheral {
    static let kind = "peripheral"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("address", "\(id.address)")
        writer.line("state", state.rawValue)
        options.write(to: &writer)
        for each in subscriptions {
            writer.line(
                "subscription", "\(each.characteristic)", "\(each.handle)",
                each.indications ? "indications" : "notifications",
                each.confirming == .whenTaken ? "when-taken" : "when-queued",
                each.completing ? "whole" : "as-sent", each.buffer.text)
        }
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (address, state): (DeviceAddress?, PeripheralState?)
        var options = ConnectionOptions()
        var subscriptions: [RestoredSubscription] = []
        for line in section.lines {
            if try options.read(line) { continue }
            switch line.key {
            case "address": address = try line.value { DeviceAddress($0) }
            case "state": state = try line.value { PeripheralState(rawValue: String($0)) }
            case "subscription": subscriptions.append(try RestoredSubscription(line))
            default: throw line.isUnknown
            }
        }
        self.init(
            Peripheral.Identifier(try section.required(address, "address")),
            try section.required(state, "state"), options: options, subscriptions: subscriptions)
    }
}

extension RestoredSubscription {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = line.values
        guard words.count >= 7 else {
            throw TextError(line.number, .count(key: String(line.key), expected: 7...8))
        }
        characteristic = try line.value(of: words[0]) { try? BluetoothUUID($0) }
        handle = try line.value(of: words[1], TextValue.handle)
        indications = try line.value(of: words[2]) { ["indications": true, "notifications": false][$0] }
        confirming = try line.value(of: words[3]) {
            ["when-taken": .whenTaken, "when-queued": .whenQueued][$0]
        }
        completing = try line.value(of: words[4]) { ["whole": true, "as-sent": false][$0] }
        let policy = words[5...]
        buffer = try line.value(of: words[5]) { _ in BufferPolicy(policy) }
    }
}

extension BufferPolicy {
    fileprivate var text: String {
        switch self {
        case .overflow(let limit, let octets): "overflow \(limit) \(octets)"
        case .newest(let count): "newest \(count)"
        }
    }

    fileprivate init?(_ words: ArraySlice<Substring>) {
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, words.count, numbers.count) {
        case ("overflow", 3, 2): self = .overflow(limit: numbers[0], octets: numbers[1])
        case ("newest", 2, 1): self = .newest(numbers[0])
        default: return nil
        }
    }
}
