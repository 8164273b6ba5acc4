import BLECore

/// Parameters for each PHY in a set: an octet with the set, then the parameters in the order of its bits
/// (Core Specification 5.4, Vol 4, Part E, 7.8.64 and 7.8.66).
package struct PerPHY<Parameters: HCIField>: HCIField {
    package let phys: PHYSet
    private let values: [Parameters]

    /// Creates the same parameters for each PHY in a set.
    package init(_ phys: PHYSet, _ parameters: Parameters) {
        self.phys = phys
        values = [Parameters](repeating: parameters, count: phys.rawValue.nonzeroBitCount)
    }

    /// Creates parameters for LE 1M, LE 2M and LE Coded; nil leaves out a PHY.
    package init(le1M: Parameters? = nil, le2M: Parameters? = nil, leCoded: Parameters? = nil) {
        var phys: PHYSet = []
        if le1M != nil { phys.insert(.le1M) }
        if le2M != nil { phys.insert(.le2M) }
        if leCoded != nil { phys.insert(.leCoded) }
        self.phys = phys
        values = [le1M, le2M, leCoded].compactMap(\.self)
    }

    /// Returns the parameters for the single PHY in `phy`, or nil if the set does not contain it.
    package subscript(phy: PHYSet) -> Parameters? {
        guard phy.rawValue.nonzeroBitCount == 1, phys.isSuperset(of: phy) else { return nil }
        let before = phys.rawValue & (phy.rawValue &- 1)
        return values[before.nonzeroBitCount]
    }

    /// Reads the set, and then the parameters for each of its bits.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        phys = try PHYSet(reading: &reader)
        var values: [Parameters] = []
        for _ in 0..<phys.rawValue.nonzeroBitCount { values.append(try Parameters(reading: &reader)) }
        self.values = values
    }

    /// The encoded size in octets: one for the set, plus the parameters.
    package var fieldWidth: Int { values.reduce(1) { $0 + $1.fieldWidth } }

    /// Writes the set and the parameters.
    package func write(into output: inout OutputSpan<UInt8>) {
        phys.write(into: &output)
        for value in values { value.write(into: &output) }
    }
}
