import AssignedNumbers
import BLECore

/// Samples of the module AssignedNumbers.
struct AssignedNumbersSamples {
    // swift-format-ignore
    @Expressions func names() {
        // Sources/AssignedNumbers/AssignedNumbers.swift
        AssignedNumbers.companyName(0x004c)           // "Apple, Inc."
        AssignedNumbers.name(of: 0x180f)              // "Battery Service"
        AssignedNumbers.uuid(named: "battery_level")  // 2a19
        AssignedNumbers.appearanceName(0x00c1)        // "Sports Watch"
        // .
    }
}
