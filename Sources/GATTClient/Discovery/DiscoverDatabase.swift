import ATT
import BLECore

/// Discovers everything, or all of the primary services of one type: services, the services they include,
/// characteristics, descriptors (Core Specification 5.4, Vol 3, Part G, 4.4 to 4.7).
///
/// Each request costs a connection interval or two, so the procedure requests whole ranges: the includes and
/// the characteristics of all services at once, and the descriptors of as many characteristics as one
/// response can hold.
package struct DiscoverDatabase: GATTProcedure {
    package static let isPreparation = true

    /// What the procedure is looking for; the numbers are indices into `spans` and `gaps`.
    private enum Place: Equatable {
        case primaryServices, secondaryServices
        case includes(Int)
        case characteristics(Int)
        case descriptors(Int)
        case end
    }

    private var place = Place.primaryServices
    private var services: [RemoteService] = []
    private var types: [AttributeHandle: BluetoothUUID] = [:]
    /// The ranges of handles in which includes and characteristics are searched.
    private var spans: [AttributeRange] = []
    /// The ranges of handles in which descriptors are searched.
    private var gaps: [AttributeRange] = []
    private var request: ATTRequest?
    /// By how many handles the present range of descriptors was shortened.
    private var shortenings = 0
    private static let shorteningLimit = 3
    /// False if the server does not show its secondary services, whose characteristics then belong to none that is known.
    private var hasSecondaryServices = true

    private let isPartial: Bool
    private let tolerance: AttributeWalk.Tolerance
    private var faults: [DatabaseFault] = []
    private var findServices: DiscoverServices
    private var findIncludes = FindIncludedServices(in: .all)
    private var findCharacteristics = DiscoverCharacteristics(in: .all)
    private var findDescriptors = DiscoverDescriptors(in: nil)

    /// Creates a discovery of everything. What violates the specification, and what the server refuses to show, is a
    /// fault of the result. Refusals for lack of security are thrown, unless `isAnySecurity` is true.
    package init(atAnySecurity isAnySecurity: Bool = false) {
        isPartial = false
        tolerance = isAnySecurity ? .refusals : .violations
        findServices = .primary
        findServices.walk.tolerance = tolerance
    }

    /// Creates a discovery of the primary services of type `uuid`. What violates the specification is thrown: it can
    /// only be understood beside the other services.
    package init(service uuid: BluetoothUUID) {
        isPartial = true
        tolerance = .nothing
        findServices = .primary(uuid)
    }

    /// Returns the next request, or the database.
    package mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<RemoteDatabase> {
        request = nil
        while request == nil, place != .end { try look(mtu) }
        return request.map { .ask($0) } ?? .done(RemoteDatabase(services: services, faults: faults))
    }

    /// Passes the response to the procedure that sent the request.
    package mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch place {
        case .primaryServices, .secondaryServices: try findServices.receive(response)
        case .includes: try findIncludes.receive(response)
        case .characteristics: try findCharacteristics.receive(response)
        case .descriptors: try findDescriptors.receive(response)
        case .end: break
        }
    }

    /// Advances one procedure: stores its next request, or moves on to the next place.
    private mutating func look(_ mtu: Int) throws(GATTClientError) {
        switch place {
        case .primaryServices:
            guard let found = try Self.step(&findServices, mtu, &request) else { return }
            try take(findServices.walk)
            services = found
            if isPartial {
                try join([])
                return enter(span: 0, mtu)
            }
            findServices = .secondary
            findServices.walk.tolerance = tolerance
            place = .secondaryServices
        case .secondaryServices:
            guard let found = try Self.step(&findServices, mtu, &request) else { return }
            try take(findServices.walk)
            hasSecondaryServices = !findServices.walk.isUnsupported
            try join(found)
            enter(span: 0, mtu)
        case .includes(let span):
            guard let found = try Self.step(&findIncludes, mtu, &request) else { return }
            if resume(&findIncludes.walk, in: spans[span]) { return }
            try take(findIncludes.walk)
            for include in found {
                guard let index = services.position(of: include.handle) else { continue }
                services[index].includes.append(include)
            }
            findCharacteristics = DiscoverCharacteristics(
                in: spans[span], of: services.map(\.range), areAll: hasSecondaryServices)
            findCharacteristics.walk.tolerance = tolerance
            place = .characteristics(span)
        case .characteristics(let span):
            guard let found = try Self.step(&findCharacteristics, mtu, &request) else { return }
            if resume(&findCharacteristics.walk, in: spans[span]) { return }
            try take(findCharacteristics.walk)
            for characteristic in found {
                guard let index = services.position(of: characteristic.handle) else { continue }
                services[index].characteristics.append(characteristic)
            }
            enter(span: span + 1, mtu)
        case .descriptors(let gap):
            guard let found = try Self.step(&findDescriptors, mtu, &request) else { return }
            if resumeDescriptors(in: gaps[gap]) { return }
            try take(findDescriptors.walk)
            take(found)
            enter(gap: gap + 1)
        case .end: break
        }
    }

    /// Returns the result of a procedure; nil if it has a request to send first.
    private static func step<Procedure: GATTProcedure>(
        _ procedure: inout Procedure, _ mtu: Int, _ request: inout ATTRequest?
    ) throws(GATTClientError) -> Procedure.Output? {
        switch try procedure.next(mtu: mtu) {
        case .done(let output): return output
        case .ask(let question):
            request = question
            return nil
        }
    }

    /// Continues after the service whose attributes the server refused to show. Returns false if there is none.
    private func resume(_ walk: inout AttributeWalk, in span: AttributeRange) -> Bool {
        guard let (_, handle, _) = walk.refusal,
            let next = services.first(where: { $0.handle > handle && span.contains($0.handle) })
        else { return false }
        walk.resume(in: AttributeRange(next.handle, span.end))
        return true
    }

    /// Continues after a refusal to show descriptors. Some servers reject a range that extends beyond their last
    /// attribute, so it is shortened first. Then the characteristic is left out.
    private mutating func resumeDescriptors(in gap: AttributeRange) -> Bool {
        guard let (start, _, error) = findDescriptors.walk.refusal else { return false }
        if error.code == .invalidHandle, shortenings < Self.shorteningLimit, gap.end > start {
            shortenings += 1
            let end = AttributeHandle(gap.end.rawValue - UInt16(shortenings))
            if end >= start {
                findDescriptors.walk.withdrawRefusal()
                findDescriptors.walk.resume(in: AttributeRange(start, end))
                return true
            }
        }
        shortenings = 0
        var next: AttributeHandle?
        for service in services.indices {
            for index in services[service].characteristics.indices {
                guard let range = services[service].characteristics[index].descriptorRange else { continue }
                if range.contains(start) {
                    services[service].characteristics[index].refusedDescriptors = error
                }
                if range.start > start, gap.contains(range.start) { next = min(next ?? .last, range.start) }
            }
        }
        guard let next else { return false }
        findDescriptors.walk.resume(in: AttributeRange(next, gap.end))
        return true
    }

    /// Adds the faults of a walk.
    private mutating func take(_ walk: AttributeWalk) throws(GATTClientError) {
        for fault in walk.faults { try add(fault, walk.opcode) }
    }

    private mutating func add(_ fault: DatabaseFault, _ opcode: ATTOpcode) throws(GATTClientError) {
        guard tolerance != .nothing, faults.count < AttributeWalk.faultLimit else {
            throw GATTClientError(fault, opcode)
        }
        faults.append(fault)
    }

    /// Adds the secondary services. Services that overlap end before the next one, because no attribute belongs to
    /// two services (3.1).
    private mutating func join(_ secondary: [RemoteService]) throws(GATTClientError) {
        let all = (services + secondary).sorted { $0.handle < $1.handle }
        services = []
        var known = Set(faults.map(\.handle))
        for service in all {
            guard let last = services.indices.last, services[last].endHandle >= service.handle else {
                services.append(service)
                continue
            }
            let before = services[last]
            if known.insert(before.handle).inserted {
                let overlap = Misbehavior.badGroup(before.handle, end: before.endHandle)
                try add(
                    DatabaseFault(before.handle, before.uuid, .misbehavior(overlap)), .readByGroupTypeRequest)
            }
            guard service.handle > before.handle else { continue }
            services[last].endHandle = AttributeHandle(service.handle.rawValue - 1)
            services.append(service)
        }
        types = Dictionary(uniqueKeysWithValues: services.map { ($0.handle, $0.uuid) })
        // The services that have more than their declaration.
        let ranges = services.map(\.range).filter { $0.start < $0.end }
        if isPartial {
            spans = ranges
        } else if let first = ranges.first, let last = ranges.last {
            spans = [AttributeRange(first.start, last.end)]
        }
    }

    private mutating func enter(span: Int, _ mtu: Int) {
        guard span < spans.count else {
            gaps = Self.descriptorRanges(of: services.flatMap(\.characteristics), mtu)
            return enter(gap: 0)
        }
        findIncludes = FindIncludedServices(in: spans[span], known: types)
        findIncludes.walk.tolerance = tolerance
        place = .includes(span)
    }

    private mutating func enter(gap: Int) {
        guard gap < gaps.count else {
            place = .end
            return
        }
        shortenings = 0
        findDescriptors = DiscoverDescriptors(in: gaps[gap])
        findDescriptors.walk.tolerance = tolerance
        place = .descriptors(gap)
    }

    /// Returns the ranges in which the characteristics can have descriptors. Ranges that one response can
    /// answer together are joined. A response holds UUIDs of one width, so ranges with a value of a long type
    /// between them are not joined.
    private static func descriptorRanges(
        of characteristics: [RemoteCharacteristic], _ mtu: Int
    ) -> [AttributeRange] {
        let entries = max(1, (mtu - 2) / 4)
        var ranges: [AttributeRange] = []
        var isInterrupted = true
        for characteristic in characteristics {
            isInterrupted = isInterrupted || characteristic.uuid.uint16 == nil
            guard let range = characteristic.descriptorRange else { continue }
            if !isInterrupted, let last = ranges.last,
                Int(range.end.rawValue) - Int(last.start.rawValue) < entries
            {
                ranges[ranges.count - 1] = last.union(range)
            } else {
                ranges.append(range)
            }
            isInterrupted = false
        }
        return ranges
    }

    /// Adds descriptors to their characteristics; the other attributes between them are already known.
    private mutating func take(_ found: [RemoteDescriptor]) {
        for descriptor in found {
            guard let service = services.position(of: descriptor.handle),
                let index = services[service].characteristics.position(of: descriptor.handle),
                services[service].characteristics[index].descriptorRange?.contains(descriptor.handle) == true
            else { continue }
            // The value of a characteristic whose declaration is elsewhere.
            let isValue = services[service].characteristics.contains { $0.valueHandle == descriptor.handle }
            if !isValue { services[service].characteristics[index].descriptors.append(descriptor) }
        }
    }
}
