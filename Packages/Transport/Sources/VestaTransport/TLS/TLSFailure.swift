import CVestaTLS
import VestaTransportInterop

/// Errors of OpenSSL in words.
enum TLSFailure {
  /// Whether the last error is a connection that ended in the middle.
  static var isCutOff: Bool {
    vesta_error_reason(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
  }

  /// Why a handshake has failed.
  static func ofHandshake(_ session: OpaquePointer) -> TransportError {
    let verification = SSL_get_verify_result(session)
    let error = ERR_peek_error()
    ERR_clear_error()
    if verification != Int(X509_V_OK), SSL_is_server(session) == 0 { return ofCertificate(verification) }
    switch vesta_error_reason(error) {
    case _ where error == 0, SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return insecure(.other, "The connection ended in the middle of the TLS handshake.", code: .connectionLost)
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_UNEXPECTED_MESSAGE, SSL_R_PACKET_LENGTH_TOO_LONG:
      return insecure(.noTLS, "The peer does not speak TLS at this port: use http, or the port of https.")
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL:
      return insecure(.noAgreement, "The peer speaks only versions of TLS that are too old: it has to be updated.")
    case 1_120, SSL_R_NO_APPLICATION_PROTOCOL:
      return insecure(.noAgreement, "The peer speaks none of the protocols that were offered by ALPN.")
    case SSL_R_NO_SHARED_CIPHER, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return insecure(.noAgreement, "There is no cipher that both ends have: the peer has to be updated.")
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
      SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return insecure(.other, "The peer does not accept the certificate: \(text(error)).")
    default: return insecure(.other, "The TLS handshake has failed: \(text(error)).")
    }
  }

  /// The fault of a server's certificate, and the remedy.
  private static func ofCertificate(_ result: Int) -> TransportError {
    switch Int32(truncatingIfNeeded: result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return insecure(
        .expired, "The certificate of the server has expired: it has to be renewed, or the clock here is wrong.")
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return insecure(.notYetValid, "The certificate of the server is not valid yet: the clock here may be wrong.")
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return insecure(
        .wrongName,
        "The certificate of the server is for another host: use a name that is in it, or a certificate for it.")
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return insecure(
        .unknownRoot,
        "The server has signed its certificate itself: add it to the roots of TLSClientSettings to trust it.")
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
      X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return insecure(
        .unknownRoot,
        """
        Nobody who is trusted here has signed the certificate of the server: add its root to the roots of \
        TLSClientSettings, install ca-certificates, or let the server send the certificates between.
        """)
    case X509_V_ERR_CERT_REVOKED: return insecure(.revoked, "The certificate of the server was revoked.")
    default:
      let text = X509_verify_cert_error_string(result).map { String(cString: $0) } ?? "unknown"
      return insecure(.other, "The certificate of the server cannot be trusted: \(text).")
    }
  }

  private static func insecure(
    _ problem: TransportError.SecurityProblem, _ message: String, code: TransportError.Code = .insecure
  ) -> TransportError {
    TransportError(code, message, mayHaveBeenProcessed: false, problem: problem)
  }

  private static func text(_ error: UInt) -> String {
    ERR_reason_error_string(error).map { String(cString: $0) } ?? "error \(error)"
  }
}
