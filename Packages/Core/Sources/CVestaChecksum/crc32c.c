// CRC-32C with the processor's own instructions: SSE 4.2 with carry-less multiplication, or the ARMv8 CRC extension.
#include "cchecksum.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

bool vesta_crc32c_is_accelerated(void) {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

static inline uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// The checksum instruction takes three cycles but can start in every one, so three lanes run side by side.
enum { lane_size = 1024 };

// x^(8 * 1024 - 33) and x^(8 * 2048 - 33) modulo the polynomial, bits reversed: multiplying a lane's checksum by one of
// them and reducing says what it becomes after 1024 or 2048 more zero bytes.
static const uint32_t after_one_lane = 0x170076fa, after_two_lanes = 0xa51b6135;

__attribute__((target("sse4.2,pclmul")))
static inline uint64_t shifted(uint64_t lane, uint32_t factor) {
  __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)lane), _mm_cvtsi32_si128((int)factor), 0);
  return _mm_crc32_u64(0, (unsigned long long)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul")))
uint32_t vesta_crc32c_accelerated(uint32_t checksum, const uint8_t *bytes, size_t count) {
  uint64_t crc = (uint32_t)~checksum;
  while (count >= 3 * lane_size) {
    uint64_t second = 0, third = 0;
    for (size_t offset = 0; offset < lane_size; offset += 8) {
      crc = _mm_crc32_u64(crc, word_at(bytes + offset));
      second = _mm_crc32_u64(second, word_at(bytes + lane_size + offset));
      third = _mm_crc32_u64(third, word_at(bytes + 2 * lane_size + offset));
    }
    crc = shifted(crc, after_two_lanes) ^ shifted(second, after_one_lane) ^ third;
    bytes += 3 * lane_size;
    count -= 3 * lane_size;
  }
  for (; count >= 8; bytes += 8, count -= 8) crc = _mm_crc32_u64(crc, word_at(bytes));
  for (; count > 0; bytes++, count--) crc = _mm_crc32_u8((uint32_t)crc, *bytes);
  return ~(uint32_t)crc;
}

#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))

#include <arm_acle.h>

#if defined(__linux__)
#include <sys/auxv.h>
bool vesta_crc32c_is_accelerated(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }  // HWCAP_CRC32
#else
bool vesta_crc32c_is_accelerated(void) { return true; }
#endif

__attribute__((target("crc")))
uint32_t vesta_crc32c_accelerated(uint32_t checksum, const uint8_t *bytes, size_t count) {
  uint32_t crc = ~checksum;
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    crc = __crc32cd(crc, word);
  }
  for (; count > 0; bytes++, count--) crc = __crc32cb(crc, *bytes);
  return ~crc;
}

#else

bool vesta_crc32c_is_accelerated(void) { return false; }
uint32_t vesta_crc32c_accelerated(uint32_t checksum, const uint8_t *bytes, size_t count) {
  (void)bytes, (void)count;
  return checksum;
}

#endif
