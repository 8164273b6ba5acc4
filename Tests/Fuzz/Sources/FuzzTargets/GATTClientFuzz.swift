import ATT
import BLECore
import GATTClient

/// For any responses, the requests of every procedure fit the MTU, and its results are in order, each within
/// the result that contains it. A value can be elsewhere, if it is a fault of the database. The input is the choice of a procedure and an MTU, then responses, each after
/// an octet that has its length.
public func fuzzGATTClient(_ bytes: Span<UInt8>) {
    guard bytes.count >= 2 else { return }
    let mtu = 23 + Int(bytes[1]) * 2
    var answers = ByteReader(bytes.extracting(droppingFirst: 2), of: "fuzz input")
    switch bytes[0] % 17 {
    case 0:
        run(DiscoverServices.primary, mtu, &answers) { checkOrder($0.map { ($0.handle, $0.endHandle) }) }
    case 1: run(DiscoverServices.primary(0x180d), mtu, &answers)
    case 2: run(DiscoverServices.secondary, mtu, &answers)
    case 3:
        run(FindIncludedServices(in: .all), mtu, &answers) {
            checkOrder($0.map { ($0.handle, $0.handle) })
        }
    case 4: run(DiscoverCharacteristics(in: .all), mtu, &answers) { check($0) }
    case 5: run(DiscoverDescriptors(in: .all), mtu, &answers)
    case 6: run(DiscoverDatabase(), mtu, &answers, check)
    case 7: run(ReadLongValue(3), mtu, &answers) { precondition($0.count <= 512) }
    case 8: run(ReadLongValue(3, from: 500), mtu, &answers) { precondition($0.count <= 12) }
    case 9: run(ReadUsingUUID(0x2a00), mtu, &answers) { checkOrder($0.map { ($0.handle, $0.handle) }) }
    case 10: run(ReadMultipleVariable([3, 4, 9]), mtu, &answers) { precondition($0.count <= 3) }
    case 11: run(WriteValue(3, [1]), mtu, &answers)
    case 14: run(ReadDatabaseHash(), mtu, &answers) { precondition($0?.count ?? 16 == 16) }
    case 15: run(DiscoverDatabase(service: 0x180d), mtu, &answers, check)
    case 16: run(WriteCharacteristicValue(3, [UInt8](repeating: 7, count: 300)), mtu, &answers)
    case 12: run(WriteLongValue(3, [UInt8](repeating: 7, count: 300)), mtu, &answers)
    default:
        let values = [(AttributeHandle(3), [UInt8](repeating: 7, count: 40)), (AttributeHandle(4), [8])]
        run(ReliableWrite(values), mtu, &answers)
    }
}

/// Returns the next response that can be decoded, or nil if there is none.
private func answer(_ answers: inout ByteReader) -> ATTResponse? {
    while let count = try? answers.u8("length"), let pdu = try? answers.bytes(Int(count), "response") {
        if let response = try? ATTResponse(pdu) { return response }
    }
    return nil
}

private func run<Procedure: GATTProcedure>(
    _ procedure: Procedure, _ mtu: Int, _ answers: inout ByteReader,
    _ check: (Procedure.Output) -> Void = { _ in }
) {
    var procedure = procedure
    do throws(GATTClientError) {
        while true {
            switch try procedure.next(mtu: mtu) {
            case .done(let output): return check(output)
            case .ask(let request):
                precondition(request.encodedCount <= mtu)
                guard let response = answer(&answers) else { return }
                try procedure.receive(response)
            }
        }
    } catch {
        precondition(!"\(error)".isEmpty)
    }
}

/// Checks that each range of handles begins after the end of the range before it.
private func checkOrder(_ runs: [(AttributeHandle, AttributeHandle)]) {
    for (start, end) in runs { precondition(start != .none && start <= end) }
    for (run, next) in zip(runs, runs.dropFirst()) { precondition(run.1 < next.0) }
}

private func check(_ characteristics: [RemoteCharacteristic], in database: RemoteDatabase? = nil) {
    checkOrder(characteristics.map { ($0.handle, $0.endHandle) })
    for each in characteristics {
        precondition(each.handle < each.valueHandle)
        precondition(each.valueHandle <= each.endHandle || database?.isFaulty(each) == true)
        checkOrder(each.descriptors.map { ($0.handle, $0.handle) })
        precondition(each.descriptors.allSatisfy { each.descriptorRange?.contains($0.handle) == true })
    }
}

private func check(_ database: RemoteDatabase) {
    checkOrder(database.services.map { ($0.handle, $0.endHandle) })
    for service in database.services {
        check(service.characteristics, in: database)
        precondition(service.characteristics.allSatisfy { service.range.contains($0.handle) })
        precondition(database.service(containing: service.endHandle) == service)
    }
}
