#ifndef VESTA_CCHECKSUM_H
#define VESTA_CCHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor has instructions for CRC-32C.
bool vesta_crc32c_is_accelerated(void);

/// Continues a CRC-32C checksum over `count` bytes. Only where `vesta_crc32c_is_accelerated` says so.
uint32_t vesta_crc32c_accelerated(uint32_t checksum, const uint8_t *bytes, size_t count);

#endif
