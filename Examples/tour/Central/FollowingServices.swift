import BLE
import ExampleSupport

extension TourCentral {
    /// Follows a service that is added and removed while the device is connected.
    func followServices() async throws {
        try await central.withConnection(to: id) { device in
            var changes = device.serviceChanges().makeAsyncIterator()
            // Subscribes to Service Changed.
            _ = try await device.discover()
            for word in ["add", "remove"] {
                try await device.write(word, to: .tourCommand)
                _ = try await changes.next()
                let guests = try await device.discoverServices([.tourGuest])
                Program.printLine("guests after \(word): \(guests.count)")
            }
        }
    }
}
