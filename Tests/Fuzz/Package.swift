// swift-tools-version: 6.2
import PackageDescription

// The libraries are built here from the same sources with libFuzzer's instrumentation, which must not be in
// the released libraries.
let fuzzer: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Libraries/\(name)",
        swiftSettings: fuzzer)
}

let package = Package(
    name: "fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        library("BLECore", []),
        library("BLEAdvertising", ["BLECore"]),
        library("HCI", ["BLEAdvertising", "BLECore", deque]),
        library("ATT", ["BLECore", deque]),
        library("GATTServer", ["ATT", "BLECore", deque]),
        library("GATTClient", ["ATT", "BLECore", deque]),
        library("GATT", ["GATTServer", "GATTClient", "ATT", "BLECore", deque]),
        library("SMP", ["BLEAdvertising", "BLECore", deque]),
        library("VirtualController", ["HCI", "BLECore", deque, heap]),
        library(
            "Recordings",
            [
                "HCI", "ATT", "SMP", "GATT", "GATTServer", "GATTClient", "BLEAdvertising", "BLECore", deque,
            ]),
        .systemLibrary(name: "CLinux", path: "Libraries/CLinux"),
        library("HCISocket", ["HCI", "CLinux", "BLECore", deque, heap, system]),
        library(
            "BLE",
            [
                "BLEAdvertising", "BLECore", "HCI", "HCISocket", "CLinux", "ATT", "GATT", "GATTServer",
                "GATTClient", "SMP", "VirtualController", deque, system, logging,
            ]),
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer",
                "BLEAdvertising", "BLECore", "HCI", "ATT", "GATT", "GATTServer", "GATTClient", "SMP",
                "VirtualController",
                "Recordings", "HCISocket", "BLE",
            ],
            path: "Sources/FuzzTargets",
            swiftSettings: fuzzer,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    ],
    swiftLanguageModes: [.v6]
)
