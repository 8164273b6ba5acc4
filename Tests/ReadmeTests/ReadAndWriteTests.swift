import BLE
import HCISocket
import Testing

extension CharacteristicKey where Value == UInt8 {
    /// The speed of a fan, in percent.
    static var speed: Self { Self(0x9d2a_0002_5c41_4e2b_8a3f_1f0c_6f2d_7b10) }
}

extension CharacteristicKey where Value == UInt32 {
    /// The time since the fan was switched on, in seconds.
    static var uptime: Self { Self(0x9d2a_0003_5c41_4e2b_8a3f_1f0c_6f2d_7b10) }
}

/// The code of the article "Read, write and subscribe".
@Suite(.timeLimit(.minutes(10))) struct ReadAndWriteTests {
    private func serveFan(_ server: PeripheralManager, _ loop: EventLoop) async throws {
        let began = loop.now
        try await server.publish([
            GATTService(
                0x9d2a_0001_5c41_4e2b_8a3f_1f0c_6f2d_7b10,
                characteristics: [
                    GATTCharacteristic(
                        CharacteristicKey.speed.characteristic, properties: [.read, .write, .notify],
                        value: .stored([30]),
                        onWrite: { request in
                            guard request.value.count == 1, request.value[0] <= 100 else {
                                throw ATTErrorCode.valueNotAllowed
                            }
                            return .accept
                        }),
                    GATTCharacteristic(
                        CharacteristicKey.uptime.characteristic, properties: .read,
                        onRead: { _ in
                            let seconds = UInt32(began.duration(until: loop.now).components.seconds)
                            return .value(CharacteristicKey.uptime.encode(seconds))
                        }),
                ])
        ])
    }

    @Test func fanIsReadWrittenAndFollowed() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("fan"))
            try await serveFan(server, bed.loop)
            var content = AdvertisingContent()
            content.name = "Fan"
            try await server.withAdvertising(content) {
                let central = CentralManager(try await bed.adapter("central"))
                let found = try await central.first(within: .seconds(5)) { $0.name == "Fan" }
                try await central.withConnection(to: try #require(found.address)) { fan in
                    #expect(try await fan.read(.speed) == 30)
                    try await readAndWrite(fan)
                    #expect(try await fan.read(.speed) == 70)
                    #expect(try await fan.read(.uptime) < 60)
                    let events = server.events()
                    let values = Task { try await Self.follow(fan) }
                    for try await event in events {
                        guard case .subscribed = event else { continue }
                        try await server.update(.speed, to: 80)
                        try await server.update(.speed, to: 0)
                        break
                    }
                    #expect(try await values.value == [80, 0])
                }
            }
        }
    }

    /// Checks the output of the article's code, and separates it from that of the samples of README.md.
    private func print(_ line: String) { #expect(line == "refused: Value Not Allowed (0x13)") }

    private func readAndWrite(_ fan: Peripheral) async throws {
        let speed = try await fan.read(.speed)
        try await fan.write(speed + 40, to: .speed)

        do throws(BLEError) {
            try await fan.write(101, to: .speed)
        } catch .att(let response) {
            print("refused: \(response.code)")
        }

        let characteristic = try await fan.characteristic(.speed)
        let octets = try await fan.read(characteristic)
        #expect(octets == [speed + 40])
    }

    private static func follow(_ fan: Peripheral) async throws -> [UInt8] {
        var seen: [UInt8] = []
        for try await percent in try await fan.values(of: .speed) {
            seen.append(percent)
            if percent == 0 { break }
        }
        return seen
    }
}
