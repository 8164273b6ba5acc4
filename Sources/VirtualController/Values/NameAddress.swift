import BLECore

extension DeviceAddress {
    /// The random static address that belongs to a name on the virtual air: its 46 free bits are the low
    /// ones of the 64-bit FNV-1a hash of the name's UTF-8. So a name has the same address on every run and
    /// on every machine.
    package static func randomStatic(named name: some Sequence<UInt8>) -> DeviceAddress {
        randomStatic(name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 })
    }
}
