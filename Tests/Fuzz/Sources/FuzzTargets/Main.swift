import CFuzzer
import Glibc

/// All targets, with the names that `--list` prints and FUZZ_TARGET selects.
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

/// The target that FUZZ_TARGET names, looked up only once.
private let chosen: (@Sendable (Span<UInt8>) -> Void)? = {
    guard let name = getenv("FUZZ_TARGET") else { return nil }
    let wanted = String(cString: name)
    return targets.first { $0.name == wanted }?.run
}()

/// Prints the targets for `--list`; all other arguments are libFuzzer's. SwiftPM names an executable's entry
/// point after its target, so that libFuzzer's `main` and this one can be in one binary.
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

/// Runs the chosen target. libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    chosen?(UnsafeBufferPointer(start: data, count: size).span)
    return 0
}
