import ATT
import BLECore

extension ATTPDU {
    /// Returns the fields of the PDU. `type` is the attribute type of the Read By Type Request that a
    /// response answers.
    func fields(of type: BluetoothUUID?) -> DecodedFields {
        switch self {
        case .request(let request): request.fields
        case .response(let response): response.fields(of: type)
        case .command(.write(let handle, let value)): ["handle": .handle(handle), "value": .octets(value)]
        case .command(.signedWrite(let handle, let value, let signature)):
            [
                "handle": .handle(handle), "value": .octets(value),
                "counter": .number(Int(signature.counter)), "mac": .text(signature.mac.hex),
            ]
        case .unsolicited(.notification(let handle, let value)),
            .unsolicited(.indication(let handle, let value)):
            ["handle": .handle(handle), "value": .octets(value)]
        case .unsolicited(.multipleNotification(let list)):
            [
                "values": .list(
                    list.map { .fields(["handle": .handle($0.handle), "value": .octets($0.value)]) })
            ]
        case .confirmation: [:]
        }
    }
}

extension ATTRequest {
    fileprivate var fields: DecodedFields {
        switch self {
        case .exchangeMTU(let mtu): ["mtu": .number(Int(mtu))]
        case .findInformation(let range): DecodedFields(range)
        case .findByTypeValue(let range, let type, let value):
            DecodedFields(range, ["type": .text(type.hex), "value": .octets(value)])
        case .readByType(let range, let type), .readByGroupType(let range, let type):
            DecodedFields(range, ["type": .name(type)])
        case .read(let handle): ["handle": .handle(handle)]
        case .readBlob(let handle, let offset): ["handle": .handle(handle), "offset": .number(Int(offset))]
        case .readMultiple(let handles), .readMultipleVariable(let handles):
            ["handles": .list(handles.map { .handle($0) })]
        case .write(let handle, let value): ["handle": .handle(handle), "value": .octets(value)]
        case .prepareWrite(let handle, let offset, let value):
            ["handle": .handle(handle), "offset": .number(Int(offset)), "value": .octets(value)]
        case .executeWrite(let flag): ["flags": .text("\(flag)")]
        }
    }
}

extension ATTResponse {
    fileprivate func fields(of type: BluetoothUUID?) -> DecodedFields {
        switch self {
        case .error(let error):
            [
                "request": .name(error.requestOpcode), "handle": .handle(error.handle),
                "error": .name(error.code),
            ]
        case .exchangeMTU(let mtu): ["mtu": .number(Int(mtu))]
        case .findInformation(let list):
            [
                "attributes": .list(
                    list.map { .fields(["handle": .handle($0.handle), "uuid": .name($0.type)]) })
            ]
        case .findByTypeValue(let list):
            [
                "groups": .list(
                    list.map { .fields(["handle": .handle($0.handle), "endHandle": .handle($0.groupEnd)]) })
            ]
        case .readByType(let list):
            [
                "values": .list(
                    list.map {
                        let fields: DecodedFields = [
                            "handle": .handle($0.handle), "value": .octets($0.value),
                        ]
                        return .fields(fields.appending(DecodedFields(declaration: type, $0.value)))
                    })
            ]
        case .readByGroupType(let list):
            [
                "groups": .list(
                    list.map {
                        let fields: DecodedFields = [
                            "handle": .handle($0.handle), "endHandle": .handle($0.groupEnd),
                            "value": .octets($0.value),
                        ]
                        return .fields(
                            fields.appending(DecodedFields(declaration: .primaryService, $0.value)))
                    })
            ]
        case .read(let value), .readBlob(let value), .readMultiple(let value): ["value": .octets(value)]
        case .readMultipleVariable(let list):
            [
                "values": .list(
                    list.map { .fields(["length": .number($0.length), "value": .octets($0.value)]) })
            ]
        case .prepareWrite(let handle, let offset, let value):
            ["handle": .handle(handle), "offset": .number(Int(offset)), "value": .octets(value)]
        case .write, .executeWrite: [:]
        }
    }
}

extension DecodedFields {
    fileprivate init(_ range: AttributeRange, _ more: DecodedFields = [:]) {
        self = ["handle": .handle(range.start), "endHandle": .handle(range.end)]
        append(more)
    }

    /// Creates the fields of a declaration's value; there are none for other attribute types and malformed
    /// values.
    fileprivate init(declaration type: BluetoothUUID?, _ value: ArraySlice<UInt8>) {
        self = [:]
        switch type {
        case .primaryService, .secondaryService:
            if let service = try? ServiceDeclaration([UInt8](value)) {
                self = ["uuid": .name(service.uuid)]
            }
        case .include:
            guard let include = try? IncludeDeclaration([UInt8](value)) else { return }
            self = ["included": .handle(include.start), "endHandle": .handle(include.end)]
            if let uuid = include.uuid { append("uuid", .name(BluetoothUUID(uuid))) }
        case .characteristic:
            guard let characteristic = try? CharacteristicDeclaration([UInt8](value)) else { return }
            self = [
                "properties": .list(characteristic.properties.names.map { .text($0) }),
                "valueHandle": .handle(characteristic.valueHandle), "uuid": .name(characteristic.uuid),
            ]
        default: break
        }
    }

    fileprivate func appending(_ more: DecodedFields) -> DecodedFields {
        var fields = self
        fields.append(more)
        return fields
    }
}
