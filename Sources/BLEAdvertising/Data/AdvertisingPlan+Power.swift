import BLECore

extension AdvertisingPlan {
    /// The same packets with that transmit power, in dBm, in the Tx Power Level field (Core Specification
    /// Supplement, part A, 1.5), where they have one. A field of a raw packet stays as it is.
    package func stating(power: Int8) -> AdvertisingPlan {
        guard let index = fields.firstIndex(where: { $0.field == .txPower }) else { return self }
        let place = fields[index].place
        let before = fields[..<index].filter { $0.place == place }.reduce(0) { $0 + $1.octets }
        // Behind the length and the type.
        let octet = before + 2
        var plan = self
        switch place {
        case .data: plan.data[octet] = UInt8(bitPattern: power)
        case .scanResponse: plan.scanResponse[octet] = UInt8(bitPattern: power)
        case .extended: plan.extended?[octet] = UInt8(bitPattern: power)
        }
        return plan
    }
}
