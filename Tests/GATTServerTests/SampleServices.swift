import ATT
import BLECore
import GATTServer

let nordic = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)
let nordicHex = "9ecadc240ee5a9e093f3a3b50100406e"

/// 0x0001 to 0x0004, 0x0010 to 0x0014, 0x0020 to 0x0022: two services with 16-bit UUIDs, one with a long one.
/// 0x0030: a secondary service without characteristics.
let discoverable: [GATTService] = [
    GATTService(
        0x180f, handle: 0x0001,
        characteristics: [GATTCharacteristic(0x2a19, properties: [.read, .notify], value: .stored([100]))]),
    GATTService(
        0x1809, handle: 0x0010, includes: [.uuid(nordic)],
        characteristics: [GATTCharacteristic(0x2a1c, properties: .indicate)]),
    GATTService(
        nordic, handle: 0x0020,
        characteristics: [GATTCharacteristic(nordic, properties: [.read], value: [1, 2, 3])]),
    GATTService(0x180f, isPrimary: false, handle: 0x0030),
]

/// Returns a service at 0x0001 with one characteristic whose value is at 0x0003.
func single(_ characteristic: GATTCharacteristic) -> [GATTService] {
    [GATTService(0xff00, characteristics: [characteristic])]
}

/// Returns a service at 0x0001 with the characteristics' values at 0x0003, 0x0005 and so on.
func several(_ characteristics: GATTCharacteristic...) -> [GATTService] {
    [GATTService(0xff00, characteristics: characteristics)]
}
