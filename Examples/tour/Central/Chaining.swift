import BLE
import ExampleSupport

extension TourCentral {
    /// Scans, connects and reads in one expression whose steps are reported as events, then with `count`
    /// devices at the same time.
    func chain(_ count: Int) async throws {
        let channel = central.channel("tour")
        let events = channel.events()
        let chain = channel.scan { $0.services = [.tour] }
            .where { $0.name?.hasPrefix("Grand") == true }
            .within(.seconds(10))
            .connect(timeout: .seconds(10), where: { $0.isConnectable })
        let level = try await chain.read(.batteryLevel)
        var steps: [String] = []
        for try await event in events {
            guard case .done(let step, _) = event else { continue }
            steps.append(step.rawValue)
            if step == .read { break }
        }
        Program.printLine("chain: battery \(level.percent) % by \(steps.joined(separator: ", "))")

        let grand = channel.scan { $0.name = "Grand*" }.within(.seconds(60))
        let levels = try await grand.each(count) { (device) throws(BLEError) in
            try await device.read(.batteryLevel)
        }
        Program.printLine("each: \(try levels.values.map { try $0.get().percent }.sorted()) %")
        try await chainToAbsentDevice()
    }

    /// Shows a chain that fails: the error contains the step, and each channel has its own events.
    private func chainToAbsentDevice() async throws {
        let channel = central.channel("absent")
        var events = channel.events().makeAsyncIterator()
        do throws(ChainError) {
            _ = try await channel.scan { $0.services = [.tourAbsent] }.within(.seconds(1)).first()
        } catch {
            guard case .began(.scan, _)? = try await events.next(),
                case .failed(let failure)? = try await events.next()
            else { return }
            Program.printLine(
                "chain to an absent device: \(error.step) failed, as channel \(failure.channel) reports")
        }
    }
}
