import BLECore

/// The distribution of the data of extended or periodic advertising over the packets of a chain: 255 octets
/// each, minus the extended header with the fields that the first packet and each later one must have (Core
/// Specification 5.4, Vol 6, Part B, 2.3.4).
package struct AdvertisingChain: Hashable, Sendable {
    /// The number of data octets in the first packet and in each later one.
    package let first, next: Int

    /// The chain of extended advertising: AUX_ADV_IND or AUX_SCAN_RSP, and AUX_CHAIN_IND.
    package static let advertising = AdvertisingChain(first: 242, next: 248)
    /// The chain of periodic advertising: AUX_SYNC_IND, and AUX_CHAIN_IND.
    package static let periodic = AdvertisingChain(first: 247, next: 248)

    /// Returns the number of packets for so many octets.
    package func packets(of octets: Int) -> Int { 1 + (max(octets - first, 0) + next - 1) / next }

    /// Returns the number of octets that fit into so many packets.
    package func octets(in packets: Int) -> Int { first + (packets - 1) * next }

    /// Returns the time that it takes to send so many octets.
    package func duration(of octets: Int, on phy: PHY) -> Duration {
        let packets = packets(of: octets)
        let headers = ExtendedAdvertisingPacket.capacity * packets - self.octets(in: packets)
        return ExtendedAdvertisingPacket.duration(of: octets + headers, in: packets, on: phy)
    }

    /// Returns the maximum number of octets, up to 1,650, that take no longer than `time`; zero if not even
    /// an empty packet does.
    package func octets(within time: Duration, on phy: PHY) -> Int {
        var (fits, most) = (0, 1650)
        while fits < most {
            let middle = (fits + most + 1) / 2
            if duration(of: middle, on: phy) <= time { fits = middle } else { most = middle - 1 }
        }
        return fits
    }
}

/// A link layer packet with an extended header (Core Specification 5.4, Vol 6, Part B, 2.1 to 2.3).
package enum ExtendedAdvertisingPacket {
    /// The maximum number of octets of extended header and data.
    package static let capacity = 255

    /// Returns the time for so many octets in so many packets, with 300 us after each packet. LE Coded uses
    /// S=8.
    package static func duration(of octets: Int, in packets: Int = 1, on phy: PHY) -> Duration {
        // The times of an octet, and of the preamble, the access address, and the additional fields of LE
        // Coded.
        let (octet, beginning) =
            switch phy {
            case .leCoded: (64, 400)
            case .le2M: (4, 24)
            default: (8, 40)
            }
        // Each packet has a header of two octets and a CRC of three.
        return .microseconds((octets + 5 * packets) * octet + packets * (beginning + 300))
    }

    /// Returns the time from the start of an advertising event to its data: an announcement on each of
    /// `channels` (4.4.2.4).
    package static func announcements(on channels: AdvertisingChannels, _ phy: PHY) -> Duration {
        // The header of ADV_EXT_IND: length, flags, data and set identifiers, pointer.
        duration(of: 7, on: phy) * channels.intersection(.all).rawValue.nonzeroBitCount
    }
}
