import ATT
import BLECore

/// Reads several values in as few requests as the server allows: by Read Multiple Variable, after which the
/// result has each value separately, or otherwise by Read Multiple, after which the result has the values
/// joined, because its response does not show where one ends (Core Specification 5.4, Vol 3, Part G, 4.8.4
/// and 4.8.5). Values that do not fit the response are read one by one.
package struct ReadSeveralValues: GATTProcedure {
    private enum Step {
        case variable(ReadMultipleVariable)
        case joined(ReadMultiple, room: Int)
        /// Reads the value of the first handle that has none yet.
        case each(ReadLongValue, joins: Bool)
        case end(joins: Bool)
    }

    private let handles: [AttributeHandle]
    private var values: [RemoteValue] = []
    private var step: Step

    package init(_ handles: [AttributeHandle]) {
        self.handles = handles
        // Both requests require at least two handles (Vol 3, Part F, 3.4.4.7).
        step = handles.count > 1 ? .variable(ReadMultipleVariable(handles)) : .end(joins: false)
        if handles.count == 1 { readRest(joins: false) }
    }

    /// Returns the next request, or the values in the order of the handles.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<MultipleReadResult> {
        while true {
            switch step {
            case .variable(var read):
                let next = try read.next(mtu: mtu)
                step = .variable(read)
                switch next {
                case .ask(let request): return .ask(request)
                case .done(let read):
                    values = Array(read.prefix { !$0.isTruncated })
                    readRest(joins: false)
                }
            case .joined(var read, let room):
                switch try read.next(mtu: mtu) {
                case .ask(let request):
                    step = .joined(read, room: ATTMTU(UInt16(clamping: mtu)).readValue)
                    return .ask(request)
                case .done(let joined):
                    // A result that fills the response may be truncated.
                    guard joined.count >= room else { return .done(.joined(joined)) }
                    readRest(joins: true)
                }
            case .each(var read, let joins):
                let next = try read.next(mtu: mtu)
                step = .each(read, joins: joins)
                switch next {
                case .ask(let request): return .ask(request)
                case .done(let value):
                    values.append(
                        RemoteValue(handle: handles[values.count], value: value, length: value.count))
                    readRest(joins: joins)
                }
            case .end(let joins):
                return .done(joins ? .joined(values.flatMap(\.value)) : .separate(values))
            }
        }
    }

    /// Handles the response. If the server does not support a request, another one is tried.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        let isUnknown =
            if case .error(let refusal) = response { refusal.code == .requestNotSupported } else { false }
        switch step {
        case .variable where isUnknown: step = .joined(ReadMultiple(handles), room: 0)
        case .joined where isUnknown: readRest(joins: false)
        case .variable(var read):
            try read.receive(response)
            step = .variable(read)
        case .joined(var read, let room):
            try read.receive(response)
            step = .joined(read, room: room)
        case .each(var read, let joins):
            try read.receive(response)
            step = .each(read, joins: joins)
        case .end: break
        }
    }

    private mutating func readRest(joins: Bool) {
        step =
            values.count < handles.count
            ? .each(ReadLongValue(handles[values.count]), joins: joins) : .end(joins: joins)
    }
}

/// The values of several attributes that were read together.
public enum MultipleReadResult: Hashable, Sendable {
    /// The values one by one, with their handles.
    case separate([RemoteValue])
    /// The values without their lengths, one after the other.
    case joined([UInt8])
}
