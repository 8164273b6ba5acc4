import ATT
import BLECore
import GATT
import GATTClient
import GATTServer
import Synchronization
import Testing

private let central = ServerDialogue.central

/// The requests that handlers received, in order.
private final class Log: Sendable {
    private let reads = Mutex<[GATTReadRequest]>([])
    private let writes = Mutex<[GATTWriteRequest]>([])

    func note(_ read: GATTReadRequest) { reads.withLock { $0.append(read) } }
    func note(_ write: GATTWriteRequest) { writes.withLock { $0.append(write) } }
    var allReads: [GATTReadRequest] { reads.withLock { $0 } }
    var allWrites: [GATTWriteRequest] { writes.withLock { $0 } }
}

private struct NoCode: Error {}

@Test func readHandlerIsCalledForEachRead() throws {
    let log = Log()
    let characteristic = GATTCharacteristic(
        0xff01, properties: .read, value: .stored([9]),
        onRead: { request in
            log.note(request)
            return .value([UInt8(log.allReads.count)])
        })
    var dialogue = try ServerDialogue(single(characteristic))
    run(
        &dialogue,
        [
            Exchange("0a0300", "0b01"), Exchange("0c03000000", "0d02"),
            Exchange("080100ffff01ff", "0903030003"),
            Exchange("0e03000300", "0f0404"), Exchange("060100ffff01ff05", "0703000300"),
        ])
    #expect(log.allReads.count == 5)
    #expect(log.allReads.allSatisfy { $0.central.client == central && $0.handle == 3 && $0.uuid == 0xff01 })
}

@Test func longReadCallsHandlerOnce() throws {
    let log = Log()
    let characteristic = GATTCharacteristic(
        0xff01, properties: .read,
        onRead: { request in
            log.note(request)
            return .value([UInt8](repeating: UInt8(log.allReads.count), count: 30))
        })
    var dialogue = try ServerDialogue(single(characteristic))
    let ones = String(repeating: "01", count: 22)
    let eight = String(repeating: "01", count: 8)
    run(&dialogue, [Exchange("0a0300", "0b" + ones), Exchange("0c03001600", "0d" + eight)])
    #expect(log.allReads.count == 1)
    // A part without a first read before it calls the handler, with its offset.
    run(&dialogue, [Exchange("0a0200", "0b02030001ff"), Exchange("0c03001d00", "0d02")])
    #expect(log.allReads.map(\.offset) == [0, 29])
    run(&dialogue, [Exchange("0c03001f00", "010c030007")])
}

@Test func handlerErrorBecomesErrorResponse() throws {
    let characteristic = GATTCharacteristic(
        0xff01, properties: [.read, .write, .writeWithoutResponse], value: .stored([1]),
        onRead: { _ in throw ATTErrorCode(0x80) },
        onWrite: { request in
            switch request.value.first {
            case 1: throw ATTErrorCode.outOfRange
            case 2: throw NoCode()
            default: return .accept
            }
        })
    var dialogue = try ServerDialogue(single(characteristic))
    run(
        &dialogue,
        [
            Exchange("0a0300", "010a030080"), Exchange("2003000300", "0120030080"),
            Exchange("080100ffff01ff", "0108030080"), Exchange("060100ffff01ff01", "010601000a"),
            Exchange("12030001", "01120300ff"), Exchange("12030002", "011203000e"), Exchange("52030002", ""),
            Exchange("1603000000" + "01", "1703000000" + "01"), Exchange("1801", "01180300ff"),
        ])
    #expect(dialogue.server.database[3]?.value == [1])
    #expect(dialogue.events() == [])
    run(&dialogue, [Exchange("12030003", "13")])
    #expect(dialogue.server.database[3]?.value == [3])
}

@Test func overlongHandlerValueReturnsUnlikelyError() throws {
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: .read, onRead: { _ in .value([UInt8](repeating: 0, count: 513)) })))
    run(&dialogue, [Exchange("0a0300", "010a03000e")])
}

@Test func writeHandlerReceivesWholeTransaction() throws {
    let log = Log()
    let characteristic = GATTCharacteristic(
        0xff01, properties: .write,
        onWrite: { request in
            log.note(request)
            return .accept
        })
    var dialogue = try ServerDialogue(several(characteristic, characteristic))
    for (handle, offset, octet) in [("03", "00", "aa"), ("05", "00", "bb"), ("03", "01", "cc")] {
        _ = dialogue.ask("16" + handle + "00" + offset + "00" + octet)
    }
    #expect(log.allWrites.isEmpty)
    run(&dialogue, [Exchange("1801", "19")])
    let first = GATTWrite(handle: 3, uuid: 0xff01, value: [0xaa, 0xcc])
    let second = GATTWrite(handle: 5, uuid: 0xff01, value: [0xbb])
    #expect(log.allWrites.map(\.write) == [first, second])
    #expect(log.allWrites.allSatisfy { $0.transaction == [first, second] && $0.kind == .prepared })
}

@Test func refusingHandlerLeavesOtherValuesUnwritten() throws {
    var dialogue = try ServerDialogue(
        several(
            GATTCharacteristic(0xff01, properties: [.read, .write], value: .stored([1])),
            GATTCharacteristic(
                0xff02, properties: [.read, .write], value: .stored([2]),
                onWrite: { _ in throw ATTErrorCode.writeRequestRejected })))
    run(
        &dialogue,
        [
            Exchange("1603000000" + "aa", "1703000000" + "aa"),
            Exchange("1605000000" + "bb", "1705000000" + "bb"),
            Exchange("1801", "01180500fc"), Exchange("0e03000500", "0f0102"),
        ])
}

@Test func handlerCanAnswerLater() throws {
    let log = Log()
    let later: ReadHandler = { request in
        log.note(request)
        return .later
    }
    var dialogue = try ServerDialogue(
        several(
            GATTCharacteristic(0xff01, properties: .read, onRead: later),
            GATTCharacteristic(0xff02, properties: .read, value: [2]),
            GATTCharacteristic(0xff03, properties: .read, onRead: later)))
    // One request calls two handlers, one after the other and once each.
    run(&dialogue, [Exchange("0e030005000700", ""), Exchange("0a0500", "")])
    #expect(log.allReads.map(\.handle) == [3])
    #expect(dialogue.complete(log.allReads[0].pending, with: .success([1])) == "")
    #expect(log.allReads.map(\.handle) == [3, 7])
    #expect(dialogue.complete(log.allReads[0].pending, with: .success([9])) == "")
    #expect(dialogue.events() == [])
    // The request that arrived meanwhile is served afterwards.
    #expect(dialogue.complete(log.allReads[1].pending, with: .success([3])) == "0f010203 0b02")
    #expect(dialogue.events().count == 4)
    #expect(dialogue.complete(log.allReads[1].pending, with: .success([3])) == "")
}

@Test func pendingHandlerDoesNotBlockOtherLinks() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .write],
                onWrite: { request in
                    log.note(request)
                    return .later
                })))
    let other = ClientID(rawValue: 2)
    dialogue.server.connect(other)
    run(&dialogue, [Exchange("120300aa", "")])
    #expect(dialogue.server.handle(.read(3), from: other, mtu: 23) == .respond(.read([])))
    #expect(dialogue.server.complete(log.allWrites[0].pending, with: .success([])) == .respond(.write))
    #expect(dialogue.server.handle(.read(3), from: other, mtu: 23) == .respond(.read([0xaa])))
}

@Test func deferredAnswerCanBeError() throws {
    let log = Log()
    let characteristic = GATTCharacteristic(
        0xff01, properties: [.read, .write, .writeWithoutResponse], value: .stored([1]),
        onWrite: { request in
            log.note(request)
            return .later
        })
    var dialogue = try ServerDialogue(single(characteristic))
    run(&dialogue, [Exchange("1603000000" + "aa", "1703000000" + "aa"), Exchange("1801", "")])
    #expect(
        dialogue.server.complete(log.allWrites[0].pending, with: .failure(.valueNotAllowed))
            == .respond(.error(ATTErrorResponse(.executeWriteRequest, 3, .valueNotAllowed))))
    #expect(dialogue.server.handle(.executeWrite(.write), from: central, mtu: 23) == .respond(.executeWrite))
    #expect(dialogue.server.database[3]?.value == [1])
    // A command has no response. Its value is stored before the handler, which answers later, has answered.
    dialogue.server.handle(ATTCommand.write(3, value: [2]), from: central, mtu: 23)
    #expect(dialogue.server.database[3]?.value == [2])
    #expect(dialogue.server.complete(log.allWrites[1].pending, with: .failure(.valueNotAllowed)) == nil)
}

@Test func commandDoesNotDisturbPendingRequest() throws {
    let log = Log()
    let characteristic = GATTCharacteristic(
        0xff01, properties: [.read, .writeWithoutResponse],
        onRead: { request in
            log.note(request)
            return .later
        })
    var dialogue = try ServerDialogue(single(characteristic))
    run(&dialogue, [Exchange("0a0300", ""), Exchange("520300bb", "")])
    #expect(dialogue.server.complete(log.allReads[0].pending, with: .success([7])) == .respond(.read([7])))
    #expect(dialogue.server.database[3]?.value == [0xbb])
}

@Test func answerForClosedLinkIsDropped() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: .read,
                onRead: { request in
                    log.note(request)
                    return .later
                })))
    run(&dialogue, [Exchange("0a0300", "")])
    dialogue.server.disconnect(central)
    #expect(dialogue.server.complete(log.allReads[0].pending, with: .success([1])) == nil)
    dialogue.server.connect(central)
    #expect(dialogue.server.complete(log.allReads[0].pending, with: .success([1])) == nil)
}

@Test func handlerTimeoutReturnsUnlikelyError() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: .read,
                onRead: { request in
                    log.note(request)
                    return .later
                })))
    run(&dialogue, [Exchange("0a0300", "")])
    #expect(try dialogue.expire() == "010a00000e")
    // The late answer does not answer the next request.
    run(&dialogue, [Exchange("0a0300", "")])
    #expect(dialogue.server.complete(log.allReads[0].pending, with: .success([1])) == nil)
    #expect(dialogue.server.complete(log.allReads[1].pending, with: .success([2])) == .respond(.read([2])))
}

@Test func timedOutWriteIsNotAppliedLater() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .write],
                onWrite: { request in
                    log.note(request)
                    return .later
                })))
    run(&dialogue, [Exchange("120300bb", "")])
    #expect(try dialogue.expire() == "011200000e")
    #expect(dialogue.server.complete(log.allWrites[0].pending, with: .success([])) == nil)
    #expect(dialogue.server.database[3]?.value == [])
    #expect(dialogue.server.nextEvent() == nil)
}

@Test func timedOutLongWriteLeavesNothingQueued() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .write],
                onWrite: { request in
                    log.note(request)
                    return .later
                })))
    run(&dialogue, [Exchange("1603000000aabbcc", "1703000000aabbcc"), Exchange("1801", "")])
    _ = try dialogue.expire()
    run(&dialogue, [Exchange("160300000011", "170300000011"), Exchange("1801", "")])
    #expect(log.allWrites.map(\.value) == [[0xaa, 0xbb, 0xcc], [0x11]])
}

@Test func answerOverReducedMTUReturnsUnlikelyError() throws {
    let log = Log()
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: .read,
                onRead: { request in
                    log.note(request)
                    return .later
                })), mtu: 100)
    run(&dialogue, [Exchange("0a0300", "")])
    _ = dialogue.connection.session.run(ExchangeMTU(.maximum))
    #expect(dialogue.ask("") == "020502")
    run(&dialogue, [Exchange("033200", "")])
    // The handler receives the MTU at the time of the request.
    #expect(log.allReads.map(\.mtu) == [ATTMTU(100)])
    let long = [UInt8](repeating: 0, count: 60)
    #expect(dialogue.complete(log.allReads[0].pending, with: .success(long)) == "010a00000e")
}
