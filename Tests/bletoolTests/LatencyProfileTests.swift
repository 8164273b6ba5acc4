import Testing

@testable import bletool

struct LatencyProfileTests {
    @Test func percentilesUseNearestRank() {
        let profile = LatencyProfile((1...200).reversed().map { .milliseconds($0) })
        #expect(profile.minimum == .milliseconds(1))
        #expect(profile.percentile(50) == .milliseconds(100))
        #expect(profile.percentile(90) == .milliseconds(180))
        #expect(profile.percentile(99) == .milliseconds(198))
        #expect(profile.percentile(100) == .milliseconds(200))
        #expect(profile.maximum == .milliseconds(200))
        #expect(LatencyProfile([.seconds(1)]).percentile(1) == .seconds(1))
    }

    @Test func bucketBoundsDouble() {
        let profile = LatencyProfile([3, 4, 5, 20].map { .microseconds($0) })
        #expect(
            profile.buckets == [
                .init(bound: .microseconds(4), count: 2), .init(bound: .microseconds(8), count: 1),
                .init(bound: .microseconds(16), count: 0), .init(bound: .microseconds(32), count: 1),
            ])
    }

    @Test func emptyProfileHasNoStatistics() {
        let profile = LatencyProfile([])
        #expect(profile.buckets.isEmpty && profile.percentile(50) == nil && profile.maximum == nil)
    }
}
