import CFuzzer
import Glibc

/// Every target by its name on the command line.
private let targets: [(name: String, run: @Sendable (Span<UInt8>) -> Void)] = [
    ("advertising-data", fuzzAdvertisingData),
    ("beacons", fuzzBeacons),
    ("hci", fuzzHCI),
    ("l2cap", fuzzL2CAP),
    ("att", fuzzATTPDU),
    ("gatt-server", fuzzGATTServer),
    ("gatt-connection", fuzzGATTConnection),
    ("gatt-client", fuzzGATTClient),
    ("value-reassembler", fuzzValueReassembler),
    ("smp", fuzzSMP),
    ("pairing", fuzzPairing),
    ("virtual-air", fuzzVirtualAir),
    ("host", fuzzHost),
    ("recordings", fuzzRecordings),
    ("dissector", fuzzDissector),
]

/// The one that FUZZ_TARGET names, looked up once and not for each input.
private let chosen: (@Sendable (Span<UInt8>) -> Void)? = {
    guard let name = getenv("FUZZ_TARGET") else { return nil }
    let wanted = String(cString: name)
    return targets.first { $0.name == wanted }?.run
}()

/// `--list` prints the targets; everything else is libFuzzer's. SwiftPM calls an executable's entry point
/// after its target, so that libFuzzer's `main` and ours can live in one binary.
@_cdecl("fuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    if CommandLine.arguments.dropFirst().first == "--list" {
        for target in targets { print(target.name) }
        return 0
    }
    guard chosen != nil else {
        print("FUZZ_TARGET names none of: \(targets.map(\.name).joined(separator: " "))")
        return 2
    }
    var (count, arguments) = (count, arguments)
    return LLVMFuzzerRunDriver(&count, &arguments, testOneInput)
}

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    chosen?(UnsafeBufferPointer(start: data, count: size).span)
    return 0
}
