import BLECore

/// The encoding of a value: its fields in order, defined once for decoding, measuring and encoding.
///
/// ```swift
/// static let layout = HCILayout("Connection_Handle, Reason", Self.init) { ($0.connection, $0.reason) }
/// ```
/// The text contains the names of the fields for errors, as in the specification. The initializer takes the
/// fields in wire order, and the closure returns them in that order. A field that covers several parameters
/// has the name of one of them. Debug builds assert that there is a name for each field; the tests use every
/// layout in such builds.
package struct HCILayout<Value: Sendable>: Sendable {
    let decode: @Sendable (inout ByteReader) throws(DecodeError) -> Value
    let count: @Sendable (Value) -> Int
    let encode: @Sendable (Value, inout OutputSpan<UInt8>) -> Void

    init<each Field: HCIField>(
        _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Value,
        _ fields: @escaping @Sendable (Value) -> (repeat each Field)
    ) {
        assert(
            names.description.split(separator: ",").count == fieldCount(repeat (each Field).self),
            "\(names): the layout has another number of fields")
        decode = { (reader: inout ByteReader) throws(DecodeError) -> Value in
            var index = 0
            do throws(DecodeError) {
                return make(repeat try next((each Field).self, &reader, &index))
            } catch {
                throw named(error, names, index)
            }
        }
        count = { value in
            var count = 0
            for field in repeat each fields(value) { count += field.fieldWidth }
            return count
        }
        encode = { value, output in
            for field in repeat each fields(value) { field.write(into: &output) }
        }
    }
}

private func fieldCount<each Field>(_ fields: repeat (each Field).Type) -> Int {
    var count = 0
    for _ in repeat each fields { count += 1 }
    return count
}

/// Reads a field and increments its index.
private func next<Field: HCIField>(
    _: Field.Type, _ reader: inout ByteReader, _ index: inout Int
) throws(DecodeError) -> Field {
    let field = try Field(reading: &reader)
    index += 1
    return field
}

/// Returns the error with the name of its field: the one at `index` in the comma-separated `names`.
private func named(_ error: DecodeError, _ names: StaticString, _ index: Int) -> DecodeError {
    guard error.field.isEmpty else { return error }
    var error = error
    let all = names.description.split(separator: ",")
    error.field = index < all.count ? String(all[index].drop { $0 == " " }) : "field \(index + 1)"
    return error
}
