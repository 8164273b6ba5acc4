"""What the scenarios share: bletool as a process, radios, Bumble's devices and raw packets."""
