extension VirtualController {
    /// Names a controller on an air; never used twice.
    public struct ID: Hashable, Sendable {
        /// Counts the controllers of an air from 1.
        public let number: UInt64

        /// The controller of that number.
        public init(number: UInt64) { self.number = number }
    }
}

extension VirtualController.ID: Comparable, CustomStringConvertible {
    /// `#1`, in the order in which controllers join.
    public var description: String { "#\(number)" }

    /// Orders by age.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
