// swift-tools-version: 6.2
import PackageDescription

/// What every target is built with.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // ByteReader hands out spans; Swift 6.2 requires the lifetime of each value that reads or writes octets.
    .enableExperimentalFeature("Lifetimes"),
]
/// Targets that parse what comes from outside: every unsafe construct must be marked, and there is none.
let safe = strict + [.strictMemorySafety()]

let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
/// What only pairing needs.
let crypto = ["Crypto", "CryptoExtras"].map {
    Target.Dependency.product(
        name: $0, package: "swift-crypto", condition: .when(traits: ["SecurityManager"]))
}

/// Whether exactly the versions below are used, as `make release` does: a release is built of what was tested. A lock file
/// would contain the commits of one mirror, and bind the packages that use this one.
let isLocked = Context.environment["BLETOOL_LOCKED"] == "1"

/// The versions of a dependency from `lowest` on that have the same interface, or only `locked`.
func versions(_ lowest: Version, locked: Version) -> Range<Version> {
    isLocked
        ? locked..<Version(locked.major, locked.minor, locked.patch + 1)
        : lowest..<Version(lowest.major + 1, 0, 0)
}

/// A program of Examples.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["BLE", "ExampleSupport", system], path: "Examples/\(name)",
        swiftSettings: strict)
}

let package = Package(
    name: "bletool",
    products: [
        .library(name: "BLE", targets: ["BLE"]),
        .executable(name: "bletool", targets: ["bletool"]),
    ],
    traits: [
        .trait(
            name: "SecurityManager",
            description:
                "Pairing and bonds on adapters that only this process uses. Without it no cryptography is linked."
        ),
        .default(enabledTraits: ["SecurityManager"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", versions("1.8.0", locked: "1.8.2")),
        .package(url: "https://github.com/apple/swift-collections", versions("1.6.0", locked: "1.6.0")),
        .package(url: "https://github.com/apple/swift-crypto", versions("4.5.0", locked: "4.5.2")),
        .package(url: "https://github.com/apple/swift-log", versions("1.16.0", locked: "1.16.2")),
        .package(url: "https://github.com/apple/swift-system", versions("1.8.0", locked: "1.8.1")),
        // Without its default trait, which brings Foundation.
        .package(
            url: "https://github.com/swiftlang/swift-subprocess", versions("1.0.2", locked: "1.0.2"),
            traits: []),
    ]
        + (isLocked
            // What swift-crypto depends on.
            ? [.package(url: "https://github.com/apple/swift-asn1", versions("1.7.0", locked: "1.7.4"))]
            : []),
    targets: [
        // Values and bytes.
        .target(name: "BLECore", swiftSettings: safe),
        .target(name: "AssignedNumbers", dependencies: ["BLECore"], swiftSettings: safe),
        // The contents of advertisements: AD structures, beacons, and what fits into a packet.
        .target(name: "BLEAdvertising", dependencies: ["BLECore"], swiftSettings: safe),

        // Machines without I/O.
        .target(name: "HCI", dependencies: ["BLEAdvertising", "BLECore", deque], swiftSettings: safe),
        .target(name: "ATT", dependencies: ["BLECore", deque], swiftSettings: safe),
        .target(name: "GATTServer", dependencies: ["ATT", "BLECore", deque], swiftSettings: safe),
        .target(name: "GATTClient", dependencies: ["ATT", "BLECore", deque], swiftSettings: safe),
        .target(
            name: "GATT", dependencies: ["GATTServer", "GATTClient", "ATT", "BLECore", deque],
            swiftSettings: safe),
        .target(
            name: "SMP", dependencies: ["BLEAdvertising", "BLECore", deque] + crypto, swiftSettings: safe),
        .target(
            name: "VirtualController", dependencies: ["HCI", "BLECore", deque, heap], swiftSettings: safe),
        .target(
            name: "Recordings",
            dependencies: [
                "HCI", "ATT", "SMP", "GATT", "GATTServer", "GATTClient", "BLEAdvertising", "BLECore", deque,
            ],
            swiftSettings: strict),

        // Descriptors.
        .systemLibrary(name: "CLinux"),
        .target(
            name: "HCISocket",
            dependencies: ["HCI", "CLinux", "BLECore", deque, heap, system],
            swiftSettings: strict),

        // The host, where they meet: what a user imports.
        .target(
            name: "BLE",
            dependencies: [
                "BLEAdvertising", "BLECore", "HCI", "HCISocket", "CLinux", "ATT", "GATT", "GATTServer",
                "GATTClient",
                "SMP", "VirtualController", deque, system, logging,
            ],
            swiftSettings: strict),

        // The command line.
        .systemLibrary(name: "CYAML"),
        .plugin(name: "CommitOfBuild", capability: .buildTool()),
        .target(name: "BuildCommit", swiftSettings: strict, plugins: ["CommitOfBuild"]),
        .executableTarget(
            name: "bletool",
            dependencies: [
                "BLE", "BLEAdvertising", "BLECore", "HCI", "HCISocket", "ATT", "GATTServer", "GATTClient",
                "SMP", "VirtualController", "Recordings", "AssignedNumbers", "BuildCommit", "CYAML", "CLinux",
                deque, system, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict),

        // Small programs to learn from, each run by a test.
        .target(
            name: "ExampleSupport", dependencies: ["BLE", system], path: "Examples/Support",
            swiftSettings: strict),
        // Runs programs for tests, as their users do.
        .target(name: "ProgramTesting", path: "Tests/ProgramTesting", swiftSettings: strict),
        example("gateway"), example("thermometer"), example("uart-bridge"), example("beacon"),
        example("proximity"), example("tour"),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "ProgramTesting", "bletool", "gateway", "thermometer", "uart-bridge", "beacon", "proximity",
                "tour",
            ],
            swiftSettings: strict),

        // Helpers of the tests of several targets.
        .target(
            name: "TestSupport", dependencies: ["BLECore"], path: "Tests/TestSupport", swiftSettings: strict),

        // Compiles and runs what README.md shows.
        .testTarget(
            name: "ReadmeTests", dependencies: ["BLE", "ProgramTesting", "bletool"],
            swiftSettings: strict),
        // Compiles what documentation comments show.
        .testTarget(
            name: "SampleTests",
            dependencies: [
                "bletool", "BLE", "BLEAdvertising", "BLECore", "HCI", "HCISocket", "ATT", "GATT",
                "GATTServer", "GATTClient", "SMP", "VirtualController", "Recordings", "AssignedNumbers",
            ],
            swiftSettings: strict),
        .testTarget(name: "BLECoreTests", dependencies: ["BLECore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "BLEAdvertisingTests", dependencies: ["BLEAdvertising", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "AssignedNumbersTests", dependencies: ["AssignedNumbers", "BLECore"], swiftSettings: strict),
        .testTarget(
            name: "HCITests", dependencies: ["HCI", "BLECore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ATTTests", dependencies: ["ATT", "BLECore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "GATTServerTests",
            dependencies: ["GATT", "GATTServer", "GATTClient", "ATT", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "GATTClientTests", dependencies: ["GATTClient", "ATT", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "GATTTests",
            dependencies: ["GATT", "GATTServer", "GATTClient", "ATT", "BLECore", "TestSupport"],
            swiftSettings: strict),
        // Dialogues under the SIG's test ids, and server and client against models.
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["GATT", "GATTServer", "GATTClient", "ATT", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SMPTests", dependencies: ["SMP", "BLEAdvertising", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "VirtualControllerTests",
            dependencies: ["VirtualController", "HCI", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RecordingsTests",
            dependencies: ["Recordings", "HCI", "ATT", "SMP", "BLECore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FixtureTests",
            dependencies: [
                "bletool", "Recordings", "GATTServer", "VirtualController", "ATT", "HCI", "BLEAdvertising",
                "BLECore", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HCISocketTests",
            dependencies: ["HCISocket", "HCI", "CLinux", "BLECore", "TestSupport", system],
            swiftSettings: strict),
        .testTarget(
            name: "BLETests",
            dependencies: [
                "BLE", "BLEAdvertising", "BLECore", "HCI", "HCISocket", "ATT", "GATTServer", "GATTClient",
                "SMP", "VirtualController", system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "bletoolTests",
            dependencies: [
                "bletool", "BLE", "BLEAdvertising", "BLECore", "HCI", "HCISocket", "ATT", "GATTServer",
                "GATTClient", "SMP", "AssignedNumbers", "Recordings", "ProgramTesting", "TestSupport", system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
