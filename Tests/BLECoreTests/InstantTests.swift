import BLECore
import Testing

@Suite struct InstantTests {
    @Test(
        arguments: [
            (0, Duration.zero, 0),
            (5, .nanoseconds(7), 12),
            (5, .nanoseconds(-3), 2),
            (5, .nanoseconds(-7), 0),
            (UInt64.max, .nanoseconds(1), .max),
            (UInt64.max - 5, .seconds(1), .max),
            (0, .seconds(Int64.max), UInt64(Int64.max)),
            (0, .seconds(Int64.min), 0),
            (UInt64.max, .seconds(Int64.min), UInt64.max - UInt64(Int64.max) - 1),
            (UInt64.max, .zero, .max),
        ] as [(UInt64, Duration, UInt64)])
    func additionSaturates(_ start: UInt64, _ step: Duration, _ end: UInt64) {
        #expect((Instant(nanoseconds: start) + step).nanoseconds == end)
        #expect(Instant(nanoseconds: start).advanced(by: step) == Instant(nanoseconds: end))
    }

    @Test func durationUntilIsNeverNegative() {
        let one = Instant(nanoseconds: 1), five = Instant(nanoseconds: 5)
        #expect(one.duration(until: five) == .nanoseconds(4))
        #expect(five.duration(until: one) == .zero)
        #expect(one.duration(until: one) == .zero)
        #expect(Instant.zero.duration(until: Instant(nanoseconds: .max)) == .nanoseconds(Int64.max))
        #expect(one < five)
    }

    @Test(
        arguments: [
            (Duration.seconds(1), 1_000_000_000),
            (.milliseconds(-1), -1_000_000),
            (.seconds(Int64.max), .max),
            (.seconds(Int64.min), .min),
            (.seconds(9_223_372_036) + .nanoseconds(854_775_807), .max),
            (.seconds(9_223_372_036) + .nanoseconds(854_775_808), .max),
            (.seconds(-9_223_372_036) - .nanoseconds(854_775_808), .min),
            (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
        ] as [(Duration, Int64)])
    func nanosecondsSaturate(_ duration: Duration, _ count: Int64) { #expect(duration.nanoseconds == count) }

    @Test func earlierReturnsEarliestDeadline() {
        let one = Instant(nanoseconds: 1), five = Instant(nanoseconds: 5)
        #expect(earlier(one, five) == one)
        #expect(earlier(five, one) == one)
        #expect(earlier(nil, one) == one)
        #expect(earlier(one, nil) == one)
        #expect(earlier(nil, nil) == nil)
    }
}
