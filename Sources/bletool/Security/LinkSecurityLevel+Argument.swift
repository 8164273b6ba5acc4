import ArgumentParser
import HCISocket

/// `--security`, in the words of gatttool and the kernel.
extension LinkSecurityLevel: ExpressibleByArgument {
    /// The level that an argument names.
    public init?(argument: String) { self.init(argument) }

    /// The words, for help and completion; as a number it would be the kernel's.
    public static var allValueStrings: [String] { allCases.map(\.description) }
    /// None beside the words.
    public static var allValueDescriptions: [String: String] { [:] }
}
