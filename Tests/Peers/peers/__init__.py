"""Helpers of the scenarios: bletool as a process, radios, Bumble's devices and raw packets."""
