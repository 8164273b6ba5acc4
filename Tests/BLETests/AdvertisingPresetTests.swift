import BLEAdvertising
import BLECore
import HCI
import Testing

@testable import BLE

struct AdvertisingPresetTests {
    /// The intervals of Apple's Accessory Design Guidelines, which are whole numbers of 0.625 ms.
    static let table: [(AdvertisingPreset, word: String, milliseconds: Double, slots: UInt16)] = [
        (.lowLatency, "low-latency", 20, 32), (.balanced, "balanced", 152.5, 244),
        (.lowPower, "low-power", 417.5, 668), (.background, "background", 1022.5, 1636),
    ]

    @Test("each preset has the word and interval that its documentation names", arguments: table)
    func presetsHaveDocumentedIntervals(
        preset: AdvertisingPreset, word: String, milliseconds: Double, slots: UInt16
    ) {
        #expect(AdvertisingPreset(rawValue: word) == preset)
        #expect(preset.interval == .microseconds(Int(milliseconds * 1000)))
        #expect(Slots(preset.interval).rawValue == slots)
        #expect(Slots(rawValue: slots).duration == preset.interval)
        #expect(AdvertisingRequest(.empty, preset: preset).interval == preset.interval)
    }

    @Test("the table has all presets, the fastest first")
    func tableIsComplete() {
        #expect(Self.table.map(\.0) == AdvertisingPreset.allCases)
        #expect(
            AdvertisingPreset.allCases.map(\.interval) == AdvertisingPreset.allCases.map(\.interval).sorted())
    }
}
