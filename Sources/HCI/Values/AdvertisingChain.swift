import BLECore

/// How the data of extended or periodic advertising are split over the packets of a chain: 255 octets each,
/// less the extended header with what the first packet and each later one must have (Core Specification 5.4,
/// Vol 6, Part B, 2.3.4).
package struct AdvertisingChain: Hashable, Sendable {
    /// The octets of data in the first packet and in each later one.
    package let first, next: Int

    /// AUX_ADV_IND or AUX_SCAN_RSP, and AUX_CHAIN_IND.
    package static let advertising = AdvertisingChain(first: 242, next: 248)
    /// The chain of periodic advertising: AUX_SYNC_IND, and AUX_CHAIN_IND.
    package static let periodic = AdvertisingChain(first: 247, next: 248)

    /// How many packets it takes to say so many octets.
    package func packets(of octets: Int) -> Int { 1 + (max(octets - first, 0) + next - 1) / next }

    /// How many octets so many packets can say.
    package func octets(in packets: Int) -> Int { first + (packets - 1) * next }

    /// How long it takes to say so many octets.
    package func duration(of octets: Int, on phy: PHY) -> Duration {
        let packets = packets(of: octets)
        let headers = ExtendedAdvertisingPacket.capacity * packets - self.octets(in: packets)
        return ExtendedAdvertisingPacket.duration(of: octets + headers, in: packets, on: phy)
    }

    /// The most octets, up to 1,650, that take no longer than `time`; zero when not even an empty packet does.
    package func octets(within time: Duration, on phy: PHY) -> Int {
        var (fits, most) = (0, 1650)
        while fits < most {
            let middle = (fits + most + 1) / 2
            if duration(of: middle, on: phy) <= time { fits = middle } else { most = middle - 1 }
        }
        return fits
    }
}

/// A packet of the link layer with an extended header (Core Specification 5.4, Vol 6, Part B, 2.1 to 2.3).
package enum ExtendedAdvertisingPacket {
    /// The most octets of extended header and data.
    package static let capacity = 255

    /// How long so many octets take in so many packets, and 300 us behind each. LE Coded is S=8.
    package static func duration(of octets: Int, in packets: Int = 1, on phy: PHY) -> Duration {
        // The time of an octet, and of preamble, access address, and what LE Coded has besides.
        let (octet, beginning) =
            switch phy {
            case .leCoded: (64, 400)
            case .le2M: (4, 24)
            default: (8, 40)
            }
        // Each has a header of two octets and a check of three.
        return .microseconds((octets + 5 * packets) * octet + packets * (beginning + 300))
    }

    /// How long an advertising event takes until its data begin: an announcement on each of `channels`
    /// (4.4.2.4).
    package static func announcements(on channels: AdvertisingChannels, _ phy: PHY) -> Duration {
        // The header of ADV_EXT_IND: length, flags, data number and set number, pointer.
        duration(of: 7, on: phy) * channels.intersection(.all).rawValue.nonzeroBitCount
    }
}
