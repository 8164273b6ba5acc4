"""Out-of-band data that bletool and a Bumble host exchange by files, in every combination that suffices for pairing."""
from pathlib import Path

from bumble.core import AdvertisingData
from bumble.pairing import PairingConfig
from bumble.smp import OobContext, OobLegacyContext, OobSharedData

OURS, THEIRS = "ours.oob", "theirs.oob"  # the files of bletool's and of Bumble's data
TYPES = AdvertisingData.Type
# By name: whether the data are for LE Secure Connections, whether Bumble has bletool's data, whether bletool has Bumble's.
EXCHANGES = {
    "each has the other's": (True, True, True),
    "bletool has Bumble's": (True, False, True),
    "Bumble has bletool's": (True, True, False),
    "bletool's temporary key": (False, True, False),
    "Bumble's temporary key": (False, False, True),
}


class Exchange:
    def __init__(self, is_secure, bumble_has, bletool_has):
        self.is_secure, self.bumble_has = is_secure, bumble_has
        self.context, self.legacy = OobContext(), OobLegacyContext()
        self.options = []
        Path(OURS).unlink(missing_ok=True)
        if bumble_has:
            self.options += ["--oob-offer", OURS] + ["--oob-legacy"] * (not is_secure)
        if bletool_has:
            self.options += ["--oob-data", THEIRS]
            Path(THEIRS).write_text(self.record().hex())

    def record(self):
        """Returns Bumble's out-of-band data, without its address."""
        if self.is_secure:
            return bytes(self.context.share().to_ad())
        return bytes(AdvertisingData([(TYPES.SECURITY_MANAGER_TK_VALUE, self.legacy.tk)]))

    def config(self):
        """Returns the out-of-band data that Bumble uses for pairing."""
        if not self.bumble_has:
            return PairingConfig.OobConfig(self.context if self.is_secure else None, None, self.legacy)
        assert Path(OURS).stat().st_mode & 0o777 == 0o600
        record = dict(AdvertisingData.from_bytes(bytes.fromhex(Path(OURS).read_text())).ad_structures)
        self.address = record[TYPES.LE_BLUETOOTH_DEVICE_ADDRESS]
        if not self.is_secure:
            return PairingConfig.OobConfig(
                None, None, OobLegacyContext(record[TYPES.SECURITY_MANAGER_TK_VALUE]))
        given = OobSharedData(
            record[TYPES.LE_SECURE_CONNECTIONS_CONFIRMATION_VALUE], record[TYPES.LE_SECURE_CONNECTIONS_RANDOM_VALUE])
        return PairingConfig.OobConfig(self.context, given, None)


def exchanges():
    for name, exchange in EXCHANGES.items():
        print(name, flush=True)
        yield Exchange(*exchange)
