#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own main loop (compiler-rt, FuzzerInterface); ends the process when it is done.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));

#endif
