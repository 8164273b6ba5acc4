import BLE

extension TourPeripheral {
    /// Sends numbers until the link is full, and a final 0 when the link has room again.
    func flood(_ central: Central) async throws -> String {
        guard let handle = await manager.valueHandle(of: .tourFlood) else { return "no flood" }
        // On the adapter's own thread, nothing is sent during the loop; on another thread, the radio can be
        // as fast as the loop.
        let count = try await withTaskExecutorPreference(manager.adapter.loop) {
            var count: UInt16 = 0
            while count < 1000, try await send(count + 1, handle, to: central) { count += 1 }
            return count
        }
        try await manager.readyToUpdate(handle, for: [central])
        let isSent = try await send(0, handle, to: central)
        return count < 1000 && isSent ? "full, then ready" : "never full"
    }

    private func send(_ number: UInt16, _ handle: AttributeHandle, to central: Central) async throws -> Bool {
        try await manager.tryUpdate(handle, to: CharacteristicKey.tourFlood.encode(number), for: [central])
    }
}
