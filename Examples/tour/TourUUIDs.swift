import BLE

extension BluetoothUUID {
    /// The service of the tour.
    static let tour: BluetoothUUID = 0xfff0
    /// The command of the central, as a word.
    static let tourCommand: BluetoothUUID = 0xfff1
    /// The answer of the peripheral to the command.
    static let tourAnswer: BluetoothUUID = 0xfff2
    /// A value that is answered later.
    static let tourSlow: BluetoothUUID = 0xfff3
    /// The first of two values that are written together.
    static let tourLeft: BluetoothUUID = 0xfff4
    /// The second of two values that are written together.
    static let tourRight: BluetoothUUID = 0xfff5
    /// A value that requires pairing to subscribe.
    static let tourAlarm: BluetoothUUID = 0xfff6
    /// The number of writes to this characteristic since it was last read.
    static let tourSink: BluetoothUUID = 0xfff7
    /// As many notifications as the link accepts.
    static let tourFlood: BluetoothUUID = 0xfff8
    /// A value that is restored at the next start.
    static let tourSetting: BluetoothUUID = 0xfff9
    /// A service that is added and removed.
    static let tourGuest: BluetoothUUID = 0xfffa
    /// The characteristic of that service.
    static let tourGuestName: BluetoothUUID = 0xfffb
    /// A service that no device has.
    static let tourAbsent: BluetoothUUID = 0xfffc
    /// A value for signed writes, which only a bonded central can send.
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
