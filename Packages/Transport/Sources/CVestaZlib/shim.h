// What VestaTransport uses of zlib, with what is a macro in its header.
#ifndef VESTA_ZLIB_SHIM_H
#define VESTA_ZLIB_SHIM_H

#include <zlib.h>

/* Begins to write gzip: a window of 32 KiB, and the header and trailer of gzip around it. */
static inline int vesta_gzip_begin(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
