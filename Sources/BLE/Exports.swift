// The modules whose types BLE's own API speaks of: `import BLE` is all that an application writes.
@_exported import ATT
@_exported import BLEAdvertising
@_exported import BLECore
@_exported import GATTClient
@_exported import GATTServer
@_exported import HCI
@_exported import HCISocket
@_exported import SMP
@_exported import VirtualController
