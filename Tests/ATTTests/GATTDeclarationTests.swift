import ATT
import BLECore
import Testing

private let long = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)
private let longHex = "9ecadc240ee5a9e093f3a3b50100406e"

private func check<Value: PacketCodable & Equatable>(_ hex: String, _ value: Value, orAlso: Set<Int> = [])
    throws
{
    let bytes = try #require([UInt8](hex: hex))
    #expect(try Value(bytes) == value)
    #expect(value.encoded == bytes)
    for count in 0..<bytes.count where !orAlso.contains(count) {
        #expect(throws: DecodeError.self) { try Value(Array(bytes[..<count])) }
    }
    #expect(throws: DecodeError.self) { try Value(bytes + [0]) }
}

@Test func declarationsDecodeAndEncode() throws {
    try check("0f18", ServiceDeclaration(0x180f))
    try check(longHex, ServiceDeclaration(long), orAlso: [2])
    try check("10001400" + "0f18", IncludeDeclaration(start: 0x10, end: 0x14, uuid: 0x180f), orAlso: [4])
    try check(
        "02" + "0300" + "002a", CharacteristicDeclaration(properties: .read, valueHandle: 3, uuid: 0x2a00))
    try check(
        "10" + "0500" + longHex, CharacteristicDeclaration(properties: .notify, valueHandle: 5, uuid: long),
        orAlso: [5])
    // 0.01 °C in 16 bits, as in the temperature characteristic.
    try check(
        "0e" + "fe" + "2f27" + "01" + "0601",
        CharacteristicPresentationFormat(.sint16, exponent: -2, unit: 0x272f, meaning: 0x0106))
}

@Test func includeOmitsLongUUID() throws {
    let include = IncludeDeclaration(start: 0x10, end: 0x14, uuid: long)
    #expect(include.encoded.hex == "10001400")
    #expect(try IncludeDeclaration(include.encoded) == include)
}

@Test func propertiesHaveNames() {
    #expect(CharacteristicProperties(rawValue: 0xff).names.count == 8)
    #expect("\([.read, .notify] as CharacteristicProperties)" == "read|notify")
    for bit in 0..<8 { #expect(CharacteristicProperties(rawValue: 1 << bit).names.count == 1) }
}
