import CVestaTLS
import VestaTransportInterop

/// A certificate, its chain to the root, and its private key, as OpenSSL has them.
// Sound as @unchecked Sendable: nothing of it changes; OpenSSL counts references atomically.
final class LoadedIdentity: @unchecked Sendable {
  private let certificate: OpaquePointer
  private let chain: [OpaquePointer]
  private let key: OpaquePointer

  /// - Parameter names: The names of chain and key in errors.
  init(chain bytes: [UInt8], key keyBytes: [UInt8], names: (String, String)) throws(TransportError) {
    let certificates = PEM.certificates(bytes)
    guard let certificate = certificates.first else {
      throw Self.failure("\(names.0) has no certificate of PEM in it.")
    }
    guard let key = PEM.privateKey(keyBytes) else {
      certificates.forEach { X509_free($0) }
      throw Self.failure("\(names.1) has no private key of PEM in it, or one with a password, which is not asked for.")
    }
    guard X509_check_private_key(certificate, key) == 1 else {
      ERR_clear_error()
      certificates.forEach { X509_free($0) }
      EVP_PKEY_free(key)
      throw Self.failure("\(names.1) is not the key of the first certificate of \(names.0).")
    }
    self.certificate = certificate
    self.key = key
    chain = Array(certificates.dropFirst())
  }

  deinit {
    X509_free(certificate)
    chain.forEach { X509_free($0) }
    EVP_PKEY_free(key)
  }

  /// Whether the certificate is for the host.
  func isFor(_ host: UnsafePointer<CChar>) -> Bool { X509_check_host(certificate, host, 0, 0, nil) == 1 }

  /// Gives the certificate to a context.
  func install(in context: OpaquePointer) -> Bool {
    SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
      && chain.allSatisfy { vesta_tls_add_chain(context, $0) == 1 }
  }

  private static func failure(_ message: String) -> TransportError {
    TransportError(.invalidArgument, message, mayHaveBeenProcessed: false)
  }
}

/// Reads PEM.
enum PEM {
  /// All certificates of a text; the caller frees them.
  static func certificates(_ bytes: [UInt8]) -> [OpaquePointer] {
    reading(bytes) { source in
      var found: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(source, nil, nil, nil) { found.append(certificate) }
      return found
    } ?? []
  }

  /// The first private key of a text; the caller frees it.
  static func privateKey(_ bytes: [UInt8]) -> OpaquePointer? {
    // Without this call OpenSSL would ask for a password at the terminal.
    reading(bytes) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
  }

  private static func reading<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value?) -> Value? {
    // Unsafe pointer, used inside the closure only: OpenSSL reads the bytes in place.
    bytes.withUnsafeBytes { bytes in
      guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer {
        BIO_free(source)
        ERR_clear_error()
      }
      return body(source)
    }
  }
}
