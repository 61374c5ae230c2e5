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

/* What belongs to the socket of a session. */
typedef struct {
  int descriptor;
  /* The number of bytes that may still be read from the socket before others have their turn. */
  long allowance;
  /* What the peer has sent that is no data, or was told that it must not, since it was last asked for. */
  long messages;
} vesta_tls_socket;

static inline vesta_tls_socket *vesta_bio_socket(BIO *bio) { return (vesta_tls_socket *)BIO_get_data(bio); }

static inline int vesta_bio_read(BIO *bio, char *bytes, int count) {
  vesta_tls_socket *place = vesta_bio_socket(bio);
  BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY | BIO_FLAGS_IN_EOF);
  /* OpenSSL would read on for as long as a peer sends what is no data. */
  if (place->allowance <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  ssize_t got;
  do got = recv(place->descriptor, bytes, (size_t)count, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  if (got > 0) place->allowance -= got;
  return (int)got;
}

static inline int vesta_bio_write(BIO *bio, const char *bytes, int count) {
  BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  ssize_t put;
  do put = send(vesta_bio_socket(bio)->descriptor, bytes, (size_t)count, MSG_NOSIGNAL);
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

static inline int vesta_bio_free(BIO *bio) {
  if (bio) OPENSSL_free(BIO_get_data(bio));
  return 1;
}

/* How bytes move; made once, and kept. */
static inline BIO_METHOD *vesta_bio_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "vesta socket");
  if (!method) return 0;
  BIO_meth_set_read(method, vesta_bio_read);
  BIO_meth_set_write(method, vesta_bio_write);
  BIO_meth_set_ctrl(method, vesta_bio_control);
  BIO_meth_set_destroy(method, vesta_bio_free);
  return method;
}

/* Binds a session to a socket, which stays its owner's. */
static inline int vesta_tls_set_socket(SSL *session, BIO_METHOD *method, int descriptor) {
  BIO *bio = BIO_new(method);
  if (!bio) return 0;
  vesta_tls_socket *place = (vesta_tls_socket *)OPENSSL_zalloc(sizeof *place);
  if (!place) {
    BIO_free(bio);
    return 0;
  }
  place->descriptor = descriptor;
  BIO_set_data(bio, place);
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  return 1;
}

/* Says how many bytes may be read from the socket; once there is a rest, as many as OpenSSL asks for at once. */
static inline void vesta_tls_allow(SSL *session, long count) { vesta_bio_socket(SSL_get_rbio(session))->allowance = count; }

/* The number of messages without data since the last call. */
static inline long vesta_tls_take_messages(SSL *session) {
  vesta_tls_socket *place = vesta_bio_socket(SSL_get_rbio(session));
  long count = place->messages;
  place->messages = 0;
  return count;
}

/* Counts messages of the handshake, which are also those that come after it, and alerts in answer to those that must not. */
static inline void vesta_tls_count_message(
    int is_sent, int version, int type, const void *bytes, size_t count, SSL *session, void *argument) {
  (void)version, (void)bytes, (void)count, (void)argument;
  if (is_sent ? type != SSL3_RT_ALERT : type != SSL3_RT_HANDSHAKE) return;
  BIO *bio = SSL_get_rbio(session);
  if (bio) vesta_bio_socket(bio)->messages += 1;
}

/* What all contexts have: buffers are given back while nothing is in them, and writing takes up where it was. */
static inline void vesta_tls_prepare(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_msg_callback(context, vesta_tls_count_message);
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
