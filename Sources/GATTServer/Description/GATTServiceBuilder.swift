import ATT
import BLECore

/// Builds lists of services, characteristics or descriptors from statements.
///
/// ```swift
/// let service = GATTService(.batteryService) {
///     GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100]))
///     if hasName { GATTCharacteristic(0x2a00, properties: .read) }
/// }
/// ```
@resultBuilder public enum GATTBuilder<Element> {
    /// One of them.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }
    /// Several of them.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
    /// Statements, in order.
    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap(\.self) }
    /// What an `if` without `else` gives.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    /// What an `if` gives.
    public static func buildEither(first part: [Element]) -> [Element] { part }
    /// What an `else` gives.
    public static func buildEither(second part: [Element]) -> [Element] { part }
    /// What a loop gives.
    public static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap(\.self) }
}

extension GATTService {
    /// A service of the characteristics that are listed.
    public init(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, includes: [GATTInclude] = [],
        @GATTBuilder<GATTCharacteristic> characteristics: () -> [GATTCharacteristic]
    ) {
        self.init(uuid, isPrimary: isPrimary, includes: includes, characteristics: characteristics())
    }
}
