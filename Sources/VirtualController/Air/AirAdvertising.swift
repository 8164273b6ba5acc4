import BLECore
import HCI

extension AirSignal {
    /// An advertising event on all its channels with all that belongs to it, or the answer to a scan request
    /// (Core Specification 5.4, Vol 6, Part B, 2.3.1 and 2.3.2).
    public struct Advertising: Hashable, Sendable {
        /// What kind of advertising it is.
        public var properties: LESetExtendedAdvertisingParameters.Properties
        /// Which of the advertiser's sets; nil for the one of its legacy commands. It stands for the moment at
        /// which an answer must be sent.
        public var set: AdvertisingHandle?
        /// Who advertises; nil for anonymous advertising.
        public var advertiser: DeviceAddress?
        /// At whom directed advertising is directed.
        public var target: DeviceAddress?
        /// The number of the set that scanners learn; nil in legacy packets.
        public var sid: UInt8?
        /// Differs when the data differ; zero in legacy packets.
        public var dataID: UInt16
        /// Where it is announced.
        public var primaryPHY: PHY
        /// Where the data are; none for legacy packets.
        public var secondaryPHY: PHY
        /// How strong it is sent, where it says so.
        public var txPower: Int8?
        /// Whether it answers a scan request.
        public var isResponse: Bool
        /// Whether the advertiser knows channel selection algorithm #2.
        public var knowsAlgorithm2: Bool
        /// What it says.
        public var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` are only a beginning.
        public var isCut = false

        /// Whether it is of packets that every controller knows.
        public var isLegacy: Bool { properties.contains(.legacy) }

        /// The octets of data in the first packet of a chain, and in each later one: 255 less the extended
        /// header with what a first packet and a later one must have (2.3.4).
        static let (firstCapacity, nextCapacity) = (242, 248)

        /// How many packets it takes to say so many octets.
        static func packets(of octets: Int) -> Int {
            let rest = max(octets - firstCapacity, 0)
            return 1 + (rest + nextCapacity - 1) / nextCapacity
        }

        /// How many packets the data are in.
        var packets: Int { isLegacy ? 1 : Self.packets(of: data.count) }

        /// Loses all packets but the first `count`.
        mutating func cut(to count: Int) {
            guard count < packets, count > 0 else { return }
            data = Array(data.prefix(Self.firstCapacity + (count - 1) * Self.nextCapacity))
            isCut = true
        }
    }

    /// SCAN_REQ or AUX_SCAN_REQ.
    public struct ScanRequest: Hashable, Sendable {
        /// Who asks.
        public var scanner: DeviceAddress
        /// Whom.
        public var advertiser: DeviceAddress
        /// Which of the advertiser's sets.
        public var set: AdvertisingHandle?
    }
}
