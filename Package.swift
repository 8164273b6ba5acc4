// swift-tools-version: 6.2
import PackageDescription

/// What every target is built with.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Targets that parse: no unsafe construct at all.
let safe = strict + [.strictMemorySafety()]

let package = Package(
    name: "bletool",
    products: [],
    targets: [
        // `Lifetimes` lets ByteReader hand out spans; no other target needs it.
        .target(name: "BLECore", swiftSettings: safe + [.enableExperimentalFeature("Lifetimes")]),
    ],
    swiftLanguageModes: [.v6]
)
