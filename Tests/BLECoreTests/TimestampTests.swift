import BLECore
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_042, "2000-02-29T00:00:00.042Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (1_795_239_908_007, "2026-11-21T05:45:08.007Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func formatsAndParsesTimestamps(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        arguments: [
            ("2026-11-21T05:45:08Z", 1_795_239_908_000), ("2026-11-21T05:45:08.5Z", 1_795_239_908_500),
            ("2026-11-21T05:45:08.04Z", 1_795_239_908_040),
            ("2026-11-21T05:45:08.007999999Z", 1_795_239_908_007),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999), ("1900-03-01T00:00:00Z", -2_203_891_200_000),
        ] as [(String, Int64)])
    func parsesAnyFractionLength(text: String, milliseconds: Int64) {
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        arguments: [
            "", "Z", "2026-11-21", "2026-11-21T05:45:08", "2026-11-21T05:45:08+00:00", "2026-11-21 05:45:08Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-04-00T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T00:60:00Z",
            "2026-11-21T00:00:60Z", "2026-11-21T05:45:08.Z", "2026-11-21T05:45:08,5Z",
            "2026-11-21T05:45:08.5xZ", "+026-11-21T05:45:08Z", "２０２６-11-21T05:45:08Z",
        ])
    func rejectsInvalidText(text: String) { #expect(Timestamp(text) == nil) }
}
