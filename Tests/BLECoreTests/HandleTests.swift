import BLECore
import Testing

@Suite struct HandleTests {
    @Test func attributeHandlesFormatAndCompare() {
        #expect(AttributeHandle(0x0012).description == "0x0012")
        #expect(AttributeHandle.first.next == 0x0002)
        #expect(AttributeHandle.last.next == nil)
        #expect(AttributeHandle.none < .first)
        #expect([0x0010, 0x0002, 0xffff as AttributeHandle].sorted() == [0x0002, 0x0010, .last])
    }

    @Test func connectionHandlesHaveTwelveBits() {
        #expect(ConnectionHandle(0xf040) == ConnectionHandle(rawValue: 0x0040))
        #expect(ConnectionHandle(0x0040).description == "0x0040")
    }
}
