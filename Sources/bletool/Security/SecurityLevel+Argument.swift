import ArgumentParser
import BLECore

/// `--security`, in the words of gatttool and the kernel.
extension SecurityLevel: ExpressibleByArgument {
    /// The level that an argument names.
    public init?(argument: String) { self.init(kernelName: argument) }

    /// The words, for help and completion; as a number it would be the kernel's.
    public static var allValueStrings: [String] { allCases.map(\.kernelName) }
    /// No descriptions: the words explain themselves.
    public static var allValueDescriptions: [String: String] { [:] }

    /// The word, where help names a default.
    public var defaultValueDescription: String { kernelName }
}
