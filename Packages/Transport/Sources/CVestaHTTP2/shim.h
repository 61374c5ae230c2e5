#include <nghttp2/nghttp2.h>

/* Two limits that came with security updates: where the library has them not, the limits of the Swift code stand alone. */
void nghttp2_option_set_stream_reset_rate_limit(nghttp2_option *, uint64_t, uint64_t) __attribute__((weak));
void nghttp2_option_set_max_continuations(nghttp2_option *, size_t) __attribute__((weak));

static inline void vesta_http2_limit_resets(nghttp2_option *option, uint64_t burst, uint64_t rate) {
  if (nghttp2_option_set_stream_reset_rate_limit) nghttp2_option_set_stream_reset_rate_limit(option, burst, rate);
}

static inline void vesta_http2_limit_continuations(nghttp2_option *option, size_t count) {
  if (nghttp2_option_set_max_continuations) nghttp2_option_set_max_continuations(option, count);
}
