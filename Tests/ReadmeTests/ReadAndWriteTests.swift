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

extension CharacteristicKey where Value == Bool {
    /// Whether the fan has passed its self-test.
    static var selfTest: Self {
        Self(
            0x9d2a_0004_5c41_4e2b_8a3f_1f0c_6f2d_7b10,
            decode: { (octets) throws(DecodeError) in octets == [1] }, encode: { [$0 ? 1 : 0] })
    }
}

/// The state of a fan.
struct FanState: Hashable {
    var revolutionsPerMinute: UInt16
    var celsius: Int8
}

extension CharacteristicKey where Value == FanState {
    static var state: Self {
        Self(
            0x9d2a_0006_5c41_4e2b_8a3f_1f0c_6f2d_7b10,
            decode: { (octets) throws(DecodeError) in
                var reader = ByteReader(octets.span, of: "fan state")
                let state = FanState(
                    revolutionsPerMinute: try reader.bigEndian16("speed"),
                    celsius: try reader.i8("temperature"))
                let sum = try reader.u8("checksum")
                guard sum == CyclicRedundancyCheck.crc8.checksum(of: octets.dropLast()) else {
                    throw reader.invalid("checksum", value: sum, width: 1)
                }
                try reader.end()
                return state
            },
            encode: { state in
                var octets = [UInt8](bigEndian: state.revolutionsPerMinute)
                octets.append(UInt8(bitPattern: state.celsius))
                octets.append(UInt8(CyclicRedundancyCheck.crc8.checksum(of: octets)))
                return octets
            })
    }
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
                        .speed, properties: [.read, .write, .notify], value: 30,
                        onWrite: { request in
                            guard request.value.count == 1, request.value[0] <= 100 else {
                                throw ATTErrorCode.valueNotAllowed
                            }
                            return .accept
                        }),
                    GATTCharacteristic(
                        .uptime, properties: .read,
                        onRead: { _ in
                            let seconds = UInt32(began.duration(until: loop.now).components.seconds)
                            return .value(CharacteristicKey.uptime.encode(seconds))
                        }),
                ])
        ])
    }

    private func selfTest(_ server: PeripheralManager, _ loop: EventLoop) -> GATTCharacteristic {
        GATTCharacteristic(
            .selfTest, properties: .read,
            onRead: { request in
                Task(executorPreference: loop) {
                    let isPassed = await self.testMotor(loop)
                    let value = CharacteristicKey.selfTest.encode(isPassed)
                    await server.complete(request.pending, with: .success(value))
                }
                return .later
            })
    }

    /// Tests the motor of the fan, which takes three seconds.
    private func testMotor(_ loop: EventLoop) async -> Bool { await loop.sleep(for: .seconds(3)) }

    @Test func stateIsDecoded() throws {
        let key = CharacteristicKey<FanState>.state
        let state = FanState(revolutionsPerMinute: 1200, celsius: -5)
        let octets = key.encode(state)
        #expect(octets.prefix(3) == [0x04, 0xb0, 0xfb])
        let decoded = try key.decode(octets)
        #expect(decoded == state)
        #expect(throws: DecodeError.self) { try key.decode(Array(octets.dropLast())) }
        #expect(throws: DecodeError.self) { try key.decode(octets + [0]) }
        let wrong = #expect(throws: DecodeError.self) { try key.decode(octets.dropLast() + [octets[3] ^ 1]) }
        #expect(wrong?.field == "checksum" && wrong?.offset == 3)
    }

    @Test func fanIsReadWrittenAndFollowed() async throws {
        try await VirtualTestbed.run { bed in
            let server = PeripheralManager(try await bed.adapter("fan"))
            try await serveFan(server, bed.loop)
            let test = selfTest(server, bed.loop)
            try await server.add([
                GATTService(0x9d2a_0005_5c41_4e2b_8a3f_1f0c_6f2d_7b10, characteristics: [test])
            ])
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
                    let loop = bed.loop
                    let passed = try await withTimeout(.seconds(10), on: loop) {
                        try await fan.read(.selfTest)
                    }
                    #expect(passed)
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
