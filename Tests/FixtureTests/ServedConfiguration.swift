import ATT
import Foundation
import GATTServer

@testable import bletool

/// The server that `bletool serve` creates from a configuration, without a radio.
struct ServedConfiguration {
    let server: GATTServer
    let receiveMTU: ATTMTU

    /// Reads the file at `path` in the package. Its programs do not run, because recordings do not have their
    /// answers.
    init(_ path: String) throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../" + path)
        let context = ConfigurationContext(
            names: Names.uuid, contents: { _, _ in throw BadInput("no file") }, isProgram: { _ in true })
        let configuration = try ServeConfiguration([UInt8](try Data(contentsOf: url)), context)
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services) { _ in (nil, nil) }
        }
        server = GATTServer(
            try AttributeDatabase(services, generic: configuration.generic),
            ServerOptions(configuration))
        receiveMTU = ATTMTU(UInt16(configuration.mtu))
    }
}
