import BLECore

/// The name of a device, or its beginning (Core Specification Supplement v11, Part A, 1.2).
public struct LocalName: Hashable, Sendable {
    /// The name as it was sent.
    package let value: UTF8Text
    /// Whether the name is complete, not shortened.
    public let isComplete: Bool

    /// Creates a name, complete by default.
    package init(_ value: UTF8Text, isComplete: Bool = true) {
        self.value = value
        self.isComplete = isComplete
    }

    /// The name, with U+FFFD in place of invalid UTF-8.
    public var text: String { value.text }

    var type: AdvertisingDataType { isComplete ? .completeLocalName : .shortenedLocalName }
}
