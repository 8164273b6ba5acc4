extension ServeConfiguration {
    /// A configuration that contains and explains every key. `serve --example` prints it, and docs/serve.md
    /// shows it.
    static let example = """
        # A configuration of `bletool serve` with every key. Only `services` is needed. JSON is read as well.
        # Try it: bletool serve --example > example.yaml; bletool serve example.yaml --adapter virtual

        name: Example                    # the GAP Device Name, and advertised; 1 to 248 octets of UTF-8
        mtu: 517                         # the largest ATT_MTU to agree to, 23 to 517
        prepareQueue: 64                 # how many prepared writes one central may queue, 1 to 1024
        strict: true                     # false: contradictions are served as written, with a warning
        standardServices: true           # false: no GAP (1800) and GATT (1801) services are added
        standardDescriptors: true        # false: no 2900, 2902 and 2903 are added where properties need them

        security:                        # how centrals pair
          io: none                       # none | display | displayYesNo | keyboard | keyboardDisplay
          bonding: true                  # false: keys are not kept
          secureConnectionsOnly: false   # true: LE legacy pairing is refused
          replace: never                 # never | unauthenticated | window: bonds that centrals without keys may replace

        connection:                      # requested from each central, and in the GAP service (2a04)
          interval: 30ms-50ms            # 7.5ms to 4s
          latency: 0                     # connection events that the peripheral may skip, 0 to 499
          supervision: 4s                # 100ms to 32s

        # What is advertised, beside the name, while fewer than --max-links centrals are connected. Companies are given by
        # their assigned numbers, UUIDs by their numbers or the names of the SIG; data is hex.
        advertise:
          services: [181a, "Battery Service"]
          solicit: [1805]                # Service Solicitation
          manufacturer: {0xFFFF: "0102"} # company: data
          serviceData: {181a: "b208"}    # UUID: data
          appearance: 768                # or 0x0300
          txPowerField: true             # advertises the transmit power
          power: 0                       # the transmit power to request, -127 to 20 dBm
          flags: "06"                    # 06 where centrals can connect, none otherwise
          url: "https://example.com"     # URI
          preset: balanced               # low-latency | balanced | low-power | background; or interval: 20ms to 10.24s
          channels: [37, 38, 39]
          overflow: extended             # what does not fit: fail | shorten-name | scan-response | extended | apple
          extended: true                 # extended advertising, which scanners without it do not receive
          primaryPhy: 1m                 # 1m | coded
          secondaryPhy: 2m               # 1m | 2m | coded
          sid: 1                         # Advertising SID, 0 to 15

        # Further advertisements, each with the keys of `advertise` and those shown here; as many as the controller has
        # advertising sets.
        beacons:
          - name: Beacon
            type: scannable              # connectable | scannable | nonconnectable
            ibeacon: "f7826da6-4fa2-4e98-8024-bc5b71e0893e,1,2,-59"  # UUID,MAJOR,MINOR,POWER
            overflow: scan-response
          - eddystoneUrl: "https://example.com"
            interval: 500ms
            periodic:                    # a periodic advertising train
              interval: 100ms            # 7.5ms to 81.91875s; or a range, 100ms-200ms
              manufacturer: {0xFFFF: "03"}
              serviceData: {181a: "b208"}
              txPower: true              # adds the TX Power Level; or data: all octets of the train, as hex
          - {raw: "020106", rawScanResponse: "0309424c", type: scannable}  # whole packets, as hex

        services:
          - uuid: 181a                   # Environmental Sensing
            primary: true                # false: a secondary service
            uuidBits: 16                 # on the air; 128: the long form of a UUID of the SIG
            handle: 0x0010               # of the declaration; without it, the next free handle
            endHandle: 0x002f            # the last handle; without it, that of the last attribute
            includes: [{uuid: 180f}]     # or {handle: 0x0030}
            characteristics:
              - uuid: 2a6e               # Temperature, in steps of 0.01 °C
                uuidBits: 16
                handle: 0x0012           # of the declaration
                valueHandle: 0x0013
                # broadcast read writeWithoutResponse write notify indicate signedWrite extended
                # notifyEncryptionRequired indicateEncryptionRequired (notify and indicate on encrypted links only)
                properties: [read, write, notify]
                permissions:             # default of read and write: what the properties imply
                  read: open             # open | encrypted | authenticated | secureConnections | none; or low | medium | high | fips
                  write: encrypted
                  subscribe: open        # to notifications; default: as read, so that they are as protected as the value
                  keySize: 16            # the minimum encryption key size, 7 to 16
                  authorize: false       # true is refused, because there is no user to authorize an access
                # A text, or {hex: …}, {utf8: …}, {u8|u16|u32|i8|i16|i32|f32|sfloat|float: N or [N, …]}, {file: PATH}
                value: {i16: 2150}
                length: {max: 512, fixed: false}  # fixed: true: the value always has max octets
                read: {exec: "cat temperature", format: i16}  # its output is the value; without a format, its octets
                write: {exec: [logger, -t, ble]}  # the value is its input; a list runs without a shell
                notify: {every: 1s, exec: "cat temperature", format: i16}  # 1ms to 24h; or {every: 1s, counter: u8|u16|u32}
                descriptors:
                  - uuid: 2901           # Characteristic User Description
                    uuidBits: 16
                    handle: 0x0015
                    value: "Room temperature"
                    length: {max: 32}
                    permissions: {read: open}
              - uuid: 2a6d               # Pressure, in steps of 0.1 Pa
                properties: [read, notify]
                # A program that runs as long as the server; each line that it prints is a value in the format (default:
                # utf8). It is started again when it ends.
                notify: {lines: "while sleep 1; do echo 1013250; done", format: u32}
              - uuid: 2a6f               # Humidity, in steps of 0.01 %
                properties: [read, notify]
                # The contents of the file, whenever they have changed; without a format, its octets.
                notify: {file: humidity, format: u16}
              - uuid: 2a06               # Alert Level
                properties: [write, writeWithoutResponse]
                # A program that runs as long as the server, and reads each written value as a line in the format
                # (default: hex).
                write: {lines: "while read level; do logger -t ble $level; done", format: u8}
          - uuid: 180f                   # Battery
            handle: 0x0030
            characteristics:
              - {uuid: 2a19, properties: [read], value: {u8: 100}}

        """
}
