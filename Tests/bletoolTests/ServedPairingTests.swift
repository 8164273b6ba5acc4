import Testing

/// Bonded devices that have lost their keys, and a server without an operator.
@Suite(.timeLimit(.minutes(10))) struct ServedPairingTests {
    @Test("a server with `replace: window` lets one bonded device pair again after SIGUSR1")
    func windowLetsOneDevicePairAgain() async throws {
        let (status, output) = try await run(
            replace: "window",
            """
            pair; lose
            pair
            kill -USR1 $server
            until case $line in *'pairing window'*) ;; *) false;; esac; do
                read -r line <&3; echo "$line" >>reported
            done
            pair; lose
            pair
            """)
        #expect(status == 0, "\(output)")
        #expect(
            output == """
                0
                6
                0
                6
                pairingFailed refused here: Unspecified Reason
                pairingWindow one bonded device may pair again within 1m
                pairingWindow DEVICE has paired again
                pairingFailed refused here: Unspecified Reason
                replaced 1, refused 2

                """)
    }

    @Test("a server with `replace: unauthenticated` lets devices pair again that any device could have been")
    func unauthenticatedBondsAreReplaced() async throws {
        let (status, output) = try await run(replace: "unauthenticated", "pair; lose; pair")
        #expect(status == 0, "\(output)")
        #expect(output == "0\n0\nreplaced 1, refused 0\n")
    }

    @Test("a server with `replace: unauthenticated` keeps the bond of a passkey")
    func authenticatedBondsAreKept() async throws {
        let (status, output) = try await run(
            replace: "unauthenticated", passkey: "123456",
            "pair --passkey 123456; lose; pair --passkey 123456")
        #expect(status == 0, "\(output)")
        #expect(
            output == "0\n6\npairingFailed refused here: Unspecified Reason\nreplaced 0, refused 1\n")
    }

    @Test(
        "a phone with a private address that was reset only claims the identity of its bond",
        arguments: [("never", "6"), ("unauthenticated", "0"), ("window", "6")])
    func resetPhoneClaimsItsIdentity(replace: String, last: String) async throws {
        let (status, output) = try await run(
            replace: replace, "pair --privacy; rm -r phone; pair --privacy; pair --privacy")
        #expect(status == 0, "\(output)")
        // The pairing succeeds, because the phone names its identity at its end. The claim is then refused, so that the
        // next link is not that of a bonded phone.
        let isRefused = last == "6"
        #expect(output.hasPrefix("0\n0\n\(last)\n"), "\(output)")
        #expect(
            output.hasSuffix("replaced \(isRefused ? 0 : 1), refused \(isRefused ? 1 : 0)\n"), "\(output)")
    }

    @Test("by default, a bonded device that has lost its keys is refused")
    func bondsStayByDefault() async throws {
        let (status, output) = try await run(replace: "never", "pair; lose; pair")
        #expect(status == 0, "\(output)")
        #expect(
            output == "0\n6\npairingFailed refused here: Unspecified Reason\nreplaced 0, refused 1\n")
    }

    private func run(
        replace: String, passkey: String? = nil, _ commands: String
    ) async throws -> (status: Int32, output: String) {
        let shell = try Shell()
        try shell.write(
            "{name: Lock, security: {replace: \(replace)}, services: [{uuid: 1802, characteristics: []}]}",
            to: "lock.yaml")
        return try await shell.run(
            """
            set -e
            trap 'kill $server 2>/dev/null || :' EXIT
            pair() { bletool pair name:Lock --adapter virtual:phone --state-dir phone --timeout 120s "$@" >>paired 2>&1 && echo 0 || echo $?; }
            lose() { bletool bonds remove --all --state-dir phone >>paired 2>&1; }
            mkfifo log
            bletool serve lock.yaml --adapter virtual:lock --state-dir lock \(passkey.map { "--passkey \($0)" } ?? "") >log 2>&1 &
            server=$!
            exec 3<log; line=; read -r line <&3
            \(commands)
            kill $server; cat <&3 >>reported
            sed 's/[0-9A-F][0-9A-F]:[0-9A-F:]*[^ ]*/DEVICE/g' reported |
                sed -n 's/.*  pairing window  /pairingWindow /p; s/.*DEVICE pairingFailed  /pairingFailed /p'
            echo "replaced $(grep -c 'may replace its bond' reported), refused $(grep -c 'which is refused' reported)"
            """)
    }
}
