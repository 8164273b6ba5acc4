import ATT
import BLECore

/// Finds everything, or all of the primary services of one type: services, the services they include,
/// characteristics, descriptors (Core Specification 5.4, Vol 3, Part G, 4.4 to 4.7).
public struct DiscoverDatabase: GATTProcedure {
    /// What is being looked for; the numbers are places in `services` and in a service's characteristics.
    private enum Place: Equatable {
        case primaryServices, secondaryServices
        case includes(Int)
        case characteristics(Int)
        case descriptors(Int, Int)
        case end
    }

    private var place = Place.primaryServices
    private var services: [RemoteService] = []
    private var types: [AttributeHandle: BluetoothUUID] = [:]
    private var request: ATTRequest?

    private let isPartial: Bool
    private var findServices: DiscoverServices
    private var findIncludes = DiscoverIncludes(in: .all)
    private var findCharacteristics = DiscoverCharacteristics(in: .all)
    private var findDescriptors = DiscoverDescriptors(in: nil)

    /// Discovery of the whole database.
    public init() {
        isPartial = false
        findServices = .primary
    }

    /// Discovery of the primary services of type `uuid`.
    public init(service uuid: BluetoothUUID) {
        isPartial = true
        findServices = .primary(uuid)
    }

    /// The next request, or the database.
    public mutating func next(mtu: Int) throws(GATTClientError) -> GATTStep<RemoteDatabase> {
        request = nil
        while request == nil, place != .end { try look(mtu) }
        return request.map { .ask($0) } ?? .done(RemoteDatabase(services: services))
    }

    /// Hands the response to the procedure that asked.
    public mutating func receive(_ response: ATTResponse) throws(GATTClientError) {
        switch place {
        case .primaryServices, .secondaryServices: try findServices.receive(response)
        case .includes: try findIncludes.receive(response)
        case .characteristics: try findCharacteristics.receive(response)
        case .descriptors: try findDescriptors.receive(response)
        case .end: break
        }
    }

    /// Takes one procedure further: finds what to ask, or moves on to the next place.
    private mutating func look(_ mtu: Int) throws(GATTClientError) {
        switch place {
        case .primaryServices:
            guard let found = try Self.step(&findServices, mtu, &request) else { return }
            services = found
            if isPartial {
                try join([])
                return enter(service: 0)
            }
            findServices = .secondary
            place = .secondaryServices
        case .secondaryServices:
            guard let found = try Self.step(&findServices, mtu, &request) else { return }
            try join(found)
            enter(service: 0)
        case .includes(let service):
            guard let found = try Self.step(&findIncludes, mtu, &request) else { return }
            services[service].includes = found
            findCharacteristics = DiscoverCharacteristics(in: services[service].range)
            place = .characteristics(service)
        case .characteristics(let service):
            guard let found = try Self.step(&findCharacteristics, mtu, &request) else { return }
            services[service].characteristics = found
            enter(characteristic: 0, of: service)
        case .descriptors(let service, let characteristic):
            guard let found = try Self.step(&findDescriptors, mtu, &request) else { return }
            services[service].characteristics[characteristic].descriptors = found
            enter(characteristic: characteristic + 1, of: service)
        case .end: break
        }
    }
    /// What a procedure found; nil when it first has to ask.
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

    /// Adds the secondary services. No attribute belongs to two services (3.1).
    private mutating func join(_ secondary: [RemoteService]) throws(GATTClientError) {
        services = (services + secondary).sorted { $0.handle < $1.handle }
        for (service, next) in zip(services, services.dropFirst()) where service.endHandle >= next.handle {
            throw .misbehaving(.readByGroupTypeRequest, .badGroup(service.handle, end: service.endHandle))
        }
        types = Dictionary(uniqueKeysWithValues: services.map { ($0.handle, $0.uuid) })
    }

    /// Moves to the first service from `index` on that has more than its declaration.
    private mutating func enter(service index: Int) {
        let rest = services.indices.dropFirst(index)
        guard let service = rest.first(where: { services[$0].handle < services[$0].endHandle }) else {
            place = .end
            return
        }
        findIncludes = DiscoverIncludes(in: services[service].range, known: types)
        place = .includes(service)
    }

    /// Moves to the first characteristic from `index` on that has room for descriptors.
    private mutating func enter(characteristic index: Int, of service: Int) {
        let characteristics = services[service].characteristics
        let rest = characteristics.indices.dropFirst(index)
        guard let next = rest.first(where: { characteristics[$0].descriptorRange != nil }) else {
            return enter(service: service + 1)
        }
        findDescriptors = DiscoverDescriptors(in: characteristics[next].descriptorRange)
        place = .descriptors(service, next)
    }
}
