/// Takes the frames that a machine has written.
struct Transport {
    func send(_ frame: borrowing OutputSpan<UInt8>) {}
}
