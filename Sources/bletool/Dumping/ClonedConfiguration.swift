import ATT
import BLECore
import GATTClient
import GATTServer

/// A configuration that makes `serve` look like a device, as nearly as it can.
struct ClonedConfiguration: Sendable {
    /// How far the copy equals the device.
    enum Fidelity: Hashable, Sendable {
        /// The same attributes at the same handles; the GAP and GATT services are those that `serve` adds.
        case standard
        /// The same attributes at the same handles, those of the GAP and GATT services with stored values.
        case exact
        /// The same attributes at the same handles, with what contradicts itself, which needs `strict: false`.
        case contradictory(hasStandardServices: Bool)
        /// The same handles, but something is missing that `serve` refuses; comments say what.
        case partial
        /// The same services, where `serve` puts them, for this reason.
        case moved(String)
    }

    let node: CommentedNode
    /// How near the configuration comes to the image.
    let fidelity: Fidelity

    /// The nearest that `serve` accepts; throws the reason when it accepts none.
    init(_ image: DeviceImage) throws(ConfigurationError) {
        let wanted: [Fidelity] = [
            .standard, .exact, .contradictory(hasStandardServices: true),
            .contradictory(hasStandardServices: false),
        ]
        if let (node, fidelity) = image.firstAccepted(of: wanted) {
            (self.node, self.fidelity) = (node, fidelity)
        } else {
            let node = image.node(.partial)
            do throws(ConfigurationError) {
                _ = try Self.layout(node)
                (self.node, fidelity) = (node, .partial)
            } catch {
                let moved = Fidelity.moved(error.reason)
                self.node = image.node(moved)
                fidelity = moved
                _ = try Self.layout(self.node)
            }
        }
    }

    /// The lines of the configuration file.
    var yaml: [String] {
        [
            "# A device as `bletool gatt` found it, for `bletool serve`. What security a write requires, and what it",
            "# does, is not known.",
        ] + node.yaml
    }

    /// The attributes that `serve` would have.
    fileprivate static func layout(_ node: CommentedNode) throws(ConfigurationError) -> [LayoutRow] {
        let context = ConfigurationContext(
            names: Names.uuid, contents: { _, _ in throw BadInput("there is none") },
            isProgram: { _ in false })
        let text = node.yaml.joined(separator: "\n")
        let configuration = try ServeConfiguration(Array(text.utf8), context)
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services) { _ in (nil, nil) }
        }
        do {
            let database = try AttributeDatabase(services, generic: configuration.generic)
            return database.attributes.map { attribute in
                guard case .value(let properties) = attribute.kind else {
                    return LayoutRow(attribute.handle, attribute.type)
                }
                return LayoutRow(attribute.handle, attribute.type, properties)
            }
        } catch {
            throw ConfigurationError(nil, "\(error)")
        }
    }
}

extension DeviceImage {
    /// The first configuration that `serve` takes and that has exactly the device's attributes then.
    fileprivate func firstAccepted(
        of wanted: [ClonedConfiguration.Fidelity]
    ) -> (CommentedNode, ClonedConfiguration.Fidelity)? {
        for fidelity in wanted where mayBe(fidelity) {
            let node = node(fidelity)
            if (try? ClonedConfiguration.layout(node)) == layout { return (node, fidelity) }
        }
        return nil
    }

    private func mayBe(_ fidelity: ClonedConfiguration.Fidelity) -> Bool {
        switch fidelity {
        case .standard: name != nil && !isUnreadable
        case .exact: !isUnreadable
        case .contradictory(let hasStandardServices): name != nil || !hasStandardServices
        case .partial, .moved: true
        }
    }

    /// Whether a value is offered for reading and yet never read.
    private var isUnreadable: Bool {
        database.services.flatMap(\.characteristics).contains {
            $0.properties.contains(.read) && shown[$0.valueHandle]?.isUnreadable == true
        }
    }
}
