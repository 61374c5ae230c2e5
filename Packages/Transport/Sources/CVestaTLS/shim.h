// What VestaTransport uses of OpenSSL's libssl, version 3.0 or later: its headers, what is a macro in them, and bytes moved to
// and from a socket that never blocks and never raises SIGPIPE.
#ifndef VESTA_TLS_SHIM_H
#define VESTA_TLS_SHIM_H

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static inline int vesta_bio_descriptor(BIO *bio) { return (int)(intptr_t)BIO_get_data(bio); }

static inline int vesta_bio_read(BIO *bio, char *bytes, int count) {
  BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY | BIO_FLAGS_IN_EOF);
  ssize_t got;
  do got = recv(vesta_bio_descriptor(bio), bytes, (size_t)count, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return (int)got;
}

static inline int vesta_bio_write(BIO *bio, const char *bytes, int count) {
  BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  ssize_t put;
  do put = send(vesta_bio_descriptor(bio), bytes, (size_t)count, MSG_NOSIGNAL);
  while (put < 0 && errno == EINTR);
  if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
  return (int)put;
}

static inline long vesta_bio_control(BIO *bio, int command, long number, void *pointer) {
  (void)number;
  (void)pointer;
  switch (command) {
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    case BIO_CTRL_FLUSH: return 1;
    default: return 0;
  }
}

/* How bytes move; made once, and kept. */
static inline BIO_METHOD *vesta_bio_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "vesta socket");
  if (!method) return 0;
  BIO_meth_set_read(method, vesta_bio_read);
  BIO_meth_set_write(method, vesta_bio_write);
  BIO_meth_set_ctrl(method, vesta_bio_control);
  return method;
}

/* Binds a session to a socket, which stays its owner's. */
static inline int vesta_tls_set_socket(SSL *session, BIO_METHOD *method, int descriptor) {
  BIO *bio = BIO_new(method);
  if (!bio) return 0;
  BIO_set_data(bio, (void *)(intptr_t)descriptor);
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  return 1;
}

/* What all contexts have: buffers are given back while nothing is in them, and writing takes up where it was. */
static inline void vesta_tls_prepare(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline int vesta_tls_set_oldest_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void vesta_tls_on_server_name(SSL_CTX *context, int (*call)(SSL *, int *, void *), void *argument) {
  SSL_CTX_set_tlsext_servername_callback(context, call);
  SSL_CTX_set_tlsext_servername_arg(context, argument);
}

static inline int vesta_tls_set_server_name(SSL *session, const char *name) {
  return (int)SSL_set_tlsext_host_name(session, name);
}

static inline int vesta_tls_add_chain(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

/* The keys of tickets; the number of bytes when none are given. */
static inline long vesta_tls_set_ticket_keys(SSL_CTX *context, unsigned char *keys, long count) {
  return SSL_CTX_set_tlsext_ticket_keys(context, keys, count);
}

/* Sessions are handed to the callback alone. */
static inline void vesta_tls_on_new_session(SSL_CTX *context, int (*call)(SSL *, SSL_SESSION *)) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, call);
}

static inline void vesta_tls_keep_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int vesta_error_reason(unsigned long error) { return ERR_GET_REASON(error); }

#endif
