// swift-tools-version: 6.2
import PackageDescription

// A package of its own: what counts allocations replaces malloc, which no user of the library wants.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "bletool", path: "..")],
    targets: [
        .target(name: "CProbe"),
        .executableTarget(name: "feeder", dependencies: ["CProbe"]),
        .executableTarget(name: "counter", dependencies: ["CProbe"]),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CProbe",
                .product(name: "ATT", package: "bletool"),
                .product(name: "BLE", package: "bletool"),
                .product(name: "BLECore", package: "bletool"),
                .product(name: "GATT", package: "bletool"),
                .product(name: "GATTClient", package: "bletool"),
                .product(name: "GATTServer", package: "bletool"),
                .product(name: "HCI", package: "bletool"),
                .product(name: "HCISocket", package: "bletool"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility")]),
    ],
    swiftLanguageModes: [.v6]
)
