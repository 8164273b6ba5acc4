import BLECore
import Testing

@Suite struct DeviceAddressTests {
    @Test(
        arguments: [
            (0x0011_2233_4455, DeviceAddress.AddressType.public, DeviceAddress.Kind.public),
            (0xc011_2233_4455, .public, .public),
            (0xc011_2233_4455, .random, .static),
            (0xff11_2233_4455, .random, .static),
            (0x4011_2233_4455, .random, .resolvable),
            (0x7f11_2233_4455, .random, .resolvable),
            (0x3f11_2233_4455, .random, .nonResolvable),
            (0x8011_2233_4455, .random, .reserved),
        ] as [(UInt64, DeviceAddress.AddressType, DeviceAddress.Kind)])
    func derivesAddressKind(_ value: UInt64, _ type: DeviceAddress.AddressType, _ kind: DeviceAddress.Kind) {
        #expect(DeviceAddress(value, type: type).kind == kind)
    }

    @Test func equalityIncludesAddressType() {
        #expect(DeviceAddress(1, type: .public) != DeviceAddress(1, type: .random))
        #expect(DeviceAddress(0xff00_0000_0000_0001, type: .public) == DeviceAddress(1, type: .public))
    }

    @Test func parsesAndFormatsText() {
        let address = DeviceAddress(0xaabb_ccdd_ee0f, type: .random)
        #expect(address.text == "AA:BB:CC:DD:EE:0F")
        #expect(address.description == "AA:BB:CC:DD:EE:0F/random")
        #expect(DeviceAddress(address.description) == address)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f/random") == address)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f", defaultType: .random) == address)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f/random", defaultType: .public) == address)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f/public")?.type == .public)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f") == nil)
    }

    @Test(arguments: [
        "", "/", "aa:bb:cc:dd:ee", "aa:bb:cc:dd:ee:ff:00", "aabb:cc:dd:ee:ff", "a:bb:cc:dd:ee:ff",
        "aa:bb:cc:dd:ee:fg", "aa-bb-cc-dd-ee-ff", "aa:bb:cc:dd:ee:ff/", "aa:bb:cc:dd:ee:ff/static",
        "aa:bb:cc:dd:ee:ff/random/", " aa:bb:cc:dd:ee:ff", "::::::", "é:bb:cc:dd:ee:ff",
    ])
    func rejectsInvalidText(_ text: String) { #expect(DeviceAddress(text, defaultType: .public) == nil) }

    /// Static addresses have neither all random bits set nor all clear (Vol 6, Part B, 1.3.2.1).
    @Test func randomStaticAddressesAreValid() {
        var random = SplitMix64(seed: 7)
        let draws =
            [0, UInt64.max, 0x3fff_ffff_ffff, 0xc000_0000_0000] + (0..<500).map { _ in random.next() }
        for bits in draws {
            let address = DeviceAddress.randomStatic(bits)
            #expect(address.kind == .static)
            #expect(address.value & 0x3fff_ffff_ffff != 0)
            #expect(address.value & 0x3fff_ffff_ffff != 0x3fff_ffff_ffff)
        }
    }
}
