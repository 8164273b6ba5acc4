import BLE
import ExampleSupport

extension TourCentral {
    /// Reads a value that is answered later, and writes two values together.
    func request() async throws {
        try await central.withConnection(to: id) { device in
            Program.printLine("slow: \(try await device.read(.tourSlow))")
            let (left, right) = (
                try await device.characteristic(.tourLeft), try await device.characteristic(.tourRight)
            )
            try await device.writeReliably([(left, [1]), (right, [2])])
            Program.printLine("left and right are written")
        }
    }
}
