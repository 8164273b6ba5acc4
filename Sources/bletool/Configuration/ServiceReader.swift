import AssignedNumbers
import BLECore

/// Reads `services:` and lays out their handles.
struct ServiceReader {
    let context: ConfigurationContext
    var layout: HandleLayout
    /// Whether the descriptors are added that properties need and the file does not list.
    let addsDescriptors: Bool
    /// The contradictions, where they are no errors.
    private(set) var warnings: [ConfigurationError] = []
    private let isStrict: Bool
    private var services: [ServiceConfiguration] = []
    private var includes: [(owner: Int, handle: AttributeHandle, node: YAMLNode)] = []

    /// A reader that gives out handles from `layout`. Without `isStrict` contradictions are warnings.
    init(
        _ context: ConfigurationContext, _ layout: HandleLayout, isStrict: Bool, addsDescriptors: Bool
    ) {
        self.context = context
        self.layout = layout
        self.isStrict = isStrict
        self.addsDescriptors = addsDescriptors
    }

    /// Something can be served, but contradicts itself: an error, or a warning.
    mutating func contradiction(
        _ position: SourcePosition, _ reason: String, hint: String? = nil
    ) throws(ConfigurationError) {
        let error = ConfigurationError(position, reason, hint: hint)
        guard !isStrict else { throw error }
        warnings.append(error)
    }

    private enum Key: String, CaseIterable { case uuid, primary, handle, includes, characteristics }
    private enum IncludeKey: String, CaseIterable { case handle, uuid }

    /// The services of a list.
    mutating func read(_ node: YAMLNode) throws(ConfigurationError) -> [ServiceConfiguration] {
        for node in try node.list(of: "services") { services.append(try service(node)) }
        for include in includes {
            let target = try target(of: include.node)
            services[include.owner].includes.append(.init(handle: include.handle, service: target))
            if includes(include.owner, below: target) {
                try contradiction(
                    include.node.position, "\(services[include.owner].uuid) would include itself in the end")
            }
        }
        return services
    }

    /// Whether `service` is among what `other` includes, directly or by way of others.
    private func includes(_ service: Int, below other: Int) -> Bool {
        var seen: Set<Int> = []
        var waiting = [other]
        while let next = waiting.popLast() {
            if next == service { return true }
            if seen.insert(next).inserted { waiting += services[next].includes.map(\.service) }
        }
        return false
    }

    private mutating func service(_ node: YAMLNode) throws(ConfigurationError) -> ServiceConfiguration {
        let fields = try YAMLFields<Key>(node, "a service")
        let uuid = try fields.required(.uuid).uuid(.service, context.names)
        let handle = try layout.take(fields[.handle], for: "the service \(uuid)", at: node.position)
        var service = ServiceConfiguration(uuid: uuid, handle: handle, endHandle: handle)
        service.isStrict = isStrict
        service.isPrimary = try fields[.primary]?.bool() ?? true
        for include in try fields[.includes]?.list(of: "services, each {handle: …} or {uuid: …}") ?? [] {
            let handle = try layout.take(for: "an include of \(uuid)", at: include.position)
            service.endHandle = handle
            includes.append((services.count, handle, include))
        }
        for node in try fields[.characteristics]?.list(of: "characteristics") ?? [] {
            let characteristic = try characteristic(node)
            service.endHandle = characteristic.descriptors.last?.handle ?? characteristic.valueHandle
            service.characteristics.append(characteristic)
        }
        return service
    }

    /// Which service an include names: the one at that handle, or the only one with that UUID.
    private func target(of node: YAMLNode) throws(ConfigurationError) -> Int {
        let fields = try YAMLFields<IncludeKey>(node, "an include")
        let what: String
        let matches: [Int]
        switch (fields[.handle], fields[.uuid]) {
        case (let wanted?, nil):
            let handle = AttributeHandle(try wanted.integer("a handle", in: 1...0xffff))
            what = "at \(handle)"
            matches = services.indices.filter { services[$0].handle == handle }
        case (nil, let wanted?):
            let uuid = try wanted.uuid(.service, context.names)
            what = "\(uuid)"
            matches = services.indices.filter { services[$0].uuid == uuid }
        default:
            throw ConfigurationError(node.position, "an include needs either handle or uuid")
        }
        guard let target = matches.first else {
            let all = services.map { "\($0.uuid) at \($0.handle)" }.joined(separator: ", ")
            throw ConfigurationError(
                node.position, "there is no service \(what) to include", hint: "there are \(all)")
        }
        guard matches.count == 1 else {
            let all = matches.map { "{handle: \(services[$0].handle)}" }.joined(lastBy: "or")
            throw ConfigurationError(
                node.position, "there are \(matches.count) services \(what) to include",
                hint: "say which: \(all)")
        }
        return target
    }
}
