import ATT
import BLECore

/// Builds lists of services or characteristics from statements: those of `PeripheralManager.publish` and of a
/// `GATTService`.
///
/// ```swift
/// let service = GATTService(.batteryService) {
///     GATTCharacteristic(.batteryLevel, properties: [.read, .notify], value: .stored([100]))
///     if hasName { GATTCharacteristic(0x2a00, properties: .read) }
/// }
/// ```
@resultBuilder public enum GATTBuilder<Element> {
    /// Takes one element of the list.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }
    /// Takes several elements of the list.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
    /// Joins the statements, in their order.
    public static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap(\.self) }
    /// What an `if` without `else` gives.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    /// Takes what the first branch of an `if` gives.
    public static func buildEither(first part: [Element]) -> [Element] { part }
    /// Takes what the second branch of an `if` gives.
    public static func buildEither(second part: [Element]) -> [Element] { part }
    /// Joins what the rounds of a loop give.
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
