import BLECore
import HCI
import VirtualController

/// Samples of the module VirtualController.
struct VirtualControllerSamples {
    func simulate() {
        // Sources/VirtualController/Air/VirtualAir.swift
        var air = VirtualAir(seed: 1)
        let one = air.add()
        let two = air.add(.init(publicAddress: DeviceAddress("C0:FF:EE:00:00:01/public")))
        air.receive(HCIPacket.command(Reset().packet).encoded.span, from: one, at: .zero)
        while let (id, packet) = air.nextPacket() { print(packet, "for the host of controller", id) }
        if let deadline = air.deadline { air.expire(at: deadline) }
        // .
        handle(two)
    }
}
