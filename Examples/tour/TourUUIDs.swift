import BLE

extension BluetoothUUID {
    /// The service of the tour.
    static let tour: BluetoothUUID = 0xfff0
    /// What the central wants to be done, in a word.
    static let tourCommand: BluetoothUUID = 0xfff1
    /// What the peripheral says to that.
    static let tourAnswer: BluetoothUUID = 0xfff2
    /// A value that takes its time.
    static let tourSlow: BluetoothUUID = 0xfff3
    /// Two values that belong together.
    static let tourLeft: BluetoothUUID = 0xfff4
    /// The other one.
    static let tourRight: BluetoothUUID = 0xfff5
    /// For those only who have paired.
    static let tourAlarm: BluetoothUUID = 0xfff6
    /// Counts what is written to it since it was last read.
    static let tourSink: BluetoothUUID = 0xfff7
    /// As many values as fit.
    static let tourFlood: BluetoothUUID = 0xfff8
    /// What the next start knows.
    static let tourSetting: BluetoothUUID = 0xfff9
    /// A service that comes and goes.
    static let tourGuest: BluetoothUUID = 0xfffa
    /// Its value.
    static let tourGuestName: BluetoothUUID = 0xfffb
    /// A service that no device has.
    static let tourAbsent: BluetoothUUID = 0xfffc
    /// For signed writes, which only a bonded central can make.
    static let tourSigned: BluetoothUUID = 0xfffd
}

extension CharacteristicKey<String> {
    static let tourCommand = CharacteristicKey(.tourCommand, in: .tour)
    static let tourSlow = CharacteristicKey(.tourSlow, in: .tour)
    static let tourAlarm = CharacteristicKey(.tourAlarm, in: .tour)
    static let tourSigned = CharacteristicKey(.tourSigned, in: .tour)
}

extension CharacteristicKey<UInt16> {
    static let tourSink = CharacteristicKey(.tourSink, in: .tour)
    static let tourFlood = CharacteristicKey(.tourFlood, in: .tour)
}

extension CharacteristicKey<[UInt8]> {
    static let tourAnswer = CharacteristicKey(.tourAnswer, in: .tour)
    static let tourLeft = CharacteristicKey(.tourLeft, in: .tour)
    static let tourRight = CharacteristicKey(.tourRight, in: .tour)
}
