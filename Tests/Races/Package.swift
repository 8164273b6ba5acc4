// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that ThreadSanitizer builds only the libraries. Cryptography is omitted, because it
// comes from another package and takes most of the time to build.
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")

/// Returns a target that builds a library from the product's sources. Declarations with package access can be
/// used only in the package that contains them.
func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Libraries/\(name)",
        swiftSettings: [
            .enableUpcomingFeature("MemberImportVisibility"), .enableExperimentalFeature("Lifetimes"),
        ])
}

let package = Package(
    name: "races",
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
        .executableTarget(name: "races", dependencies: ["BLE", "VirtualController"], path: "Sources"),
    ],
    swiftLanguageModes: [.v6]
)
