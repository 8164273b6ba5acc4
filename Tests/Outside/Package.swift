// swift-tools-version: 6.2
import PackageDescription

// A package like that of a user, which can use only the public declarations of the library. It contains the examples,
// and the code in README.md and the documentation.
let ble = Target.Dependency.product(name: "BLE", package: "bletool")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
]

func example(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: [ble, "ExampleSupport", system], path: "Examples/\(name)",
        swiftSettings: settings)
}

let package = Package(
    name: "outside",
    dependencies: [
        // Cryptography is omitted, because it takes most of the time to build.
        .package(name: "bletool", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "ExampleSupport", dependencies: [ble, system], path: "Examples/Support",
            swiftSettings: settings),
        example("gateway"), example("thermometer"), example("uart-bridge"), example("beacon"),
        example("proximity"), example("tour"),
        .testTarget(
            name: "SampleTests", dependencies: [ble], path: "ReadmeTests",
            exclude: [
                "ArticleTests.swift", "Readme.swift", "ReadmeTests.swift", "Transcript.swift",
                "TranscriptTests.swift",
            ], swiftSettings: settings),
        // The code in the documentation comments of public declarations.
        .target(
            name: "PublicSamples", dependencies: [ble], path: "PublicSamples", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
