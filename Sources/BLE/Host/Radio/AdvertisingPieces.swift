import HCI

/// Data in the pieces that commands carry.
enum AdvertisingPieces {
    /// Returns the pieces of `data`: a single one when it fits, otherwise a first piece, intermediate pieces
    /// and a last piece (Core Specification 5.4, Vol 4, Part E, 7.8.54).
    static func of(
        _ data: [UInt8], capacity: Int
    ) -> [(operation: AdvertisingDataFragment.Operation, octets: [UInt8])] {
        guard data.count > capacity else { return [(.complete, data)] }
        return stride(from: 0, to: data.count, by: capacity).map { start in
            let end = min(start + capacity, data.count)
            return (
                start == 0 ? .first : end == data.count ? .last : .intermediate, Array(data[start..<end])
            )
        }
    }
}

extension AdvertisingDataFragment {
    /// Splits `data` into fragments of one command each.
    static func fragments(of data: [UInt8], for set: AdvertisingHandle) -> [AdvertisingDataFragment] {
        // Never nil: no piece is longer than the capacity.
        AdvertisingPieces.of(data, capacity: capacity).compactMap {
            try? AdvertisingDataFragment(set: set, operation: $0.operation, $0.octets)
        }
    }
}

extension PeriodicAdvertisingDataFragment {
    /// Splits `data` into fragments of one command each.
    static func fragments(
        of data: [UInt8], for set: AdvertisingHandle
    ) -> [PeriodicAdvertisingDataFragment] {
        // Never nil: no piece is longer than the capacity.
        AdvertisingPieces.of(data, capacity: capacity).compactMap {
            try? PeriodicAdvertisingDataFragment(set: set, operation: $0.operation, $0.octets)
        }
    }
}
