// The modules whose types appear in BLE's own API: an application only writes `import BLE`.
@_exported import ATT
@_exported import BLEAdvertising
@_exported import BLECore
@_exported import GATTClient
@_exported import GATTServer
@_exported import HCI
@_exported import HCISocket
@_exported import SMP
@_exported import VirtualController
