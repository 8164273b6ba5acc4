import HCI

/// A signal that may be of several packets.
protocol ChainedSignal {
    /// How its data are split; nil for a single packet.
    var chain: AdvertisingChain? { get }
    /// The data of all packets of the chain.
    var data: [UInt8] { get set }
    /// Whether packets of the chain were lost, so that `data` are only a beginning.
    var isCut: Bool { get set }
}

extension ChainedSignal {
    /// How many packets the data are in.
    var packets: Int { chain?.packets(of: data.count) ?? 1 }

    /// The same with all packets lost but the first `count`.
    func cut(to count: Int) -> Self {
        guard let chain, count < packets, count > 0 else { return self }
        var beginning = self
        beginning.data = Array(data.prefix(chain.octets(in: count)))
        beginning.isCut = true
        return beginning
    }
}
