import BLECore
import SMP

extension Adapter {
    /// What peers are to be given by another way than Bluetooth, so that they know with whom they pair: the offer of
    /// `SecurityOptions.outOfBandOffer`, with the address of this adapter: the private one where it hides, for as long as that lasts. Nil when there is no
    /// offer.
    ///
    /// A peer with data for LE Secure Connections needs none of this host's, but both are safer: each then knows the
    /// other.
    public var outOfBandRecord: OutOfBandRecord? {
        security.options.outOfBandOffer.map {
            OutOfBandRecord($0.data, of: addressOnAir, role: .peripheralPreferred)
        }
    }
}
