import ATT
import BLECore
import Testing

/// A key for which BlueZ expects the signature below.
private let key = ATTSigningKey(csrk: 0x611b_64eb_fbcd_1fd3_72ec_9196_df42_5e50)

struct ATTSigningKeyTests {
    @Test func signatureMatchesBlueZ() {
        let command = key.sign(0x0012, value: [0x13, 0x37], counter: 1)
        #expect(command.encoded.hex == "d212001337" + "01000000" + "f1871e933c900ff2")
        #expect(key.verifies(command))
    }

    @Test(arguments: 0..<17)
    func alteredCommandFailsVerification(octet: Int) throws {
        var bytes = key.sign(0x0012, value: [0x13, 0x37], counter: 1).encoded
        guard octet > 0 else { return #expect(!key.verifies(.write(0x0012, value: [0x13, 0x37]))) }
        bytes[octet] ^= 1
        #expect(try !key.verifies(ATTCommand(bytes)))
    }

    @Test func otherKeyFailsVerification() {
        #expect(!ATTSigningKey(csrk: key.csrk ^ 1).verifies(key.sign(0x0012, value: [], counter: 2)))
    }
}
