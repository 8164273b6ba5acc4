extension VirtualController {
    /// Names a controller on an air; never used twice.
    package struct ID: Hashable, Sendable {
        /// Counts the controllers of an air from 1.
        package let number: UInt64

        package init(number: UInt64) { self.number = number }
    }
}

extension VirtualController.ID: Comparable, CustomStringConvertible {
    /// `#1`, in the order in which controllers join.
    package var description: String { "#\(number)" }

    /// Orders controllers by when they joined the air.
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
