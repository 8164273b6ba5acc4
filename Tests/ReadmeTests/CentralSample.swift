import BLE

func runCentralSample() async {
    // README:
    do {
        let central = CentralManager(try await Adapter.open(.virtual(name: nil)))
        let found = try await central.first(within: .seconds(5)) { $0.name == "Thermometer" }
        if let address = found.address {
            try await central.withConnection(to: address) { peripheral in
                let temperature = try await peripheral.characteristic(uuid: 0x2a6e)
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
