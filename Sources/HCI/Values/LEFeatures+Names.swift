extension LEFeatures {
    /// The features by their names, in the order of their bits; a bit without a name is called "bit 42".
    public var names: [String] {
        (0..<64).filter { rawValue >> $0 & 1 == 1 }.map { bit in
            Self.namesOfBits.indices.contains(bit) && !Self.namesOfBits[bit].isEmpty
                ? Self.namesOfBits[bit] : "bit \(bit)"
        }
    }

    // Core Specification 5.4, Vol 6, Part B, 4.6, table 4.4.
    private static let namesOfBits = [
        "LE Encryption", "Connection Parameters Request Procedure", "Extended Reject Indication",
        "Peripheral-initiated Features Exchange", "LE Ping", "LE Data Packet Length Extension",
        "LL Privacy", "Extended Scanning Filter Policies",
        "LE 2M PHY", "Stable Modulation Index - Transmitter", "Stable Modulation Index - Receiver",
        "LE Coded PHY", "LE Extended Advertising", "LE Periodic Advertising",
        "Channel Selection Algorithm #2", "LE Power Class 1",
        "Minimum Number of Used Channels Procedure", "Connection CTE Request", "Connection CTE Response",
        "Connectionless CTE Transmitter", "Connectionless CTE Receiver",
        "Antenna Switching During CTE Transmission (AoD)", "Antenna Switching During CTE Reception (AoA)",
        "Receiving Constant Tone Extensions",
        "Periodic Advertising Sync Transfer - Sender", "Periodic Advertising Sync Transfer - Recipient",
        "Sleep Clock Accuracy Updates", "Remote Public Key Validation",
        "Connected Isochronous Stream - Central", "Connected Isochronous Stream - Peripheral",
        "Isochronous Broadcaster", "Synchronized Receiver",
        "Connected Isochronous Stream (Host Support)", "LE Power Control Request",
        "LE Power Control Request", "LE Path Loss Monitoring", "Periodic Advertising ADI support",
        "Connection Subrating", "Connection Subrating (Host Support)", "Channel Classification",
        "Advertising Coding Selection", "Advertising Coding Selection (Host Support)", "",
        "Periodic Advertising with Responses - Advertiser",
        "Periodic Advertising with Responses - Scanner",
    ]
}
