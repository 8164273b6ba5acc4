import BLE

func runCentralSample() async {
    // README:
    do {
        let central = CentralManager(try await Adapter.open(.virtual(name: nil)))
        let found = try await central.first(within: .seconds(5)) { $0.name == "Thermometer" }
        if let address = found.address {
            try await central.withConnection(to: address) { peripheral in
                let database = try await peripheral.discover()
                guard let temperature = database.characteristics(0x2a6e).first else { return }
                print(try await peripheral.read(temperature))
                for try await measured in try await peripheral.values(of: temperature) {
                    print(measured.value)
                }
            }
        }
    } catch {
        print("failed: \(error)")
    }
    // README.
}
