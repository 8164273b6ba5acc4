// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that ThreadSanitizer builds the libraries and nothing else.
let package = Package(
    name: "races",
    // Without cryptography, which is somebody else's and takes most of the time to build.
    dependencies: [.package(name: "bletool", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "races",
            dependencies: [
                .product(name: "BLE", package: "bletool"),
                .product(name: "VirtualController", package: "bletool"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
