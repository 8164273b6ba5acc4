/// Identifies an advertisement of an adapter; never reused.
package struct AdvertisingID: Hashable, Sendable {
    let number: UInt64
}

/// Identifies a change of an advertisement; never reused.
package struct AdvertisingUpdateID: Hashable, Sendable {
    let advertisement: AdvertisingID
    let number: UInt64
}
