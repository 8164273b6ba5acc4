import BLECore

extension AdvertisingRequest {
    /// What is on air when the controller sends with `power`, in dBm; nil: it does not say. Where the power
    /// field is to be corrected it is, also in a train that says what the advertisement does.
    package func sent(with power: Int8?) -> AdvertisingRequest {
        guard correctsPowerField, let power else { return self }
        var request = self
        request.plan = plan.stating(power: power)
        if let extended = request.plan.extended, periodic?.data == plan.extended {
            request.periodic?.data = extended
        }
        return request
    }
}
