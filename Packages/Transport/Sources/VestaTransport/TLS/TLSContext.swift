import CVestaTLS
import VestaBytes
import VestaConcurrency
import VestaTransportInterop

/// The shared part of sessions of one kind: an `SSL_CTX`.
// Sound as @unchecked Sendable: it is not changed after its initialisation, and OpenSSL lets threads share it.
class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  /// The offer of ALPN as it is on the wire, best first.
  fileprivate let offer: [UInt8]

  /// How bytes move; OpenSSL never frees it.
  // Sound: constant after its initialisation.
  nonisolated(unsafe) static let socketMethod = vesta_bio_method()

  fileprivate init(
    _ method: OpaquePointer?, protocols: [String], oldestVersion: TLSVersion
  ) throws(TransportError) {
    guard let pointer = SSL_CTX_new(method) else { throw TransportError(.exhausted, "There is no memory for TLS.") }
    self.pointer = pointer
    offer = ALPN.offer(protocols)
    vesta_tls_prepare(pointer)
    _ = vesta_tls_set_oldest_version(pointer, oldestVersion == .tls1_2 ? TLS1_2_VERSION : TLS1_3_VERSION)
    // Of TLS 1.2 what keeps a recording secret when the key of the certificate is lost later.
    SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM:ECDHE+CHACHA20")
  }

  deinit { SSL_CTX_free(pointer) }
}

/// The context of a server for one of its certificates.
// Sound as @unchecked Sendable: as its superclass.
final class TLSServerContext: TLSContext, @unchecked Sendable {
  init(_ identity: LoadedIdentity, _ settings: TLSServerSettings, ticketKeys: [UInt8]) throws(TransportError) {
    try super.init(TLS_server_method(), protocols: settings.protocols, oldestVersion: settings.oldestVersion)
    guard identity.install(in: pointer) else {
      ERR_clear_error()
      throw TransportError(
        .invalidArgument, "OpenSSL does not take a certificate: its key may be too short.", mayHaveBeenProcessed: false)
    }
    vesta_tls_keep_no_sessions(pointer)
    var keys = ticketKeys
    _ = vesta_tls_set_ticket_keys(pointer, &keys, keys.count)
    // Every session has the context's object alive, which is the argument.
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, chosen, chosenCount, offered, offeredCount, argument in
        guard let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        return Unmanaged<TLSServerContext>.fromOpaque(argument)._withUnsafeGuaranteedRef {
          $0.choose(chosen, chosenCount, offered, offeredCount)
        }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func choose(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
  ) -> Int32 {
    guard !offer.isEmpty else { return SSL_TLSEXT_ERR_NOACK }
    return offer.withUnsafeBufferPointer { offer in
      var found: UnsafeMutablePointer<UInt8>?
      let status = SSL_select_next_proto(
        &found, chosenCount, offer.baseAddress, UInt32(offer.count), offered, offeredCount)
      // It points into one of the two lists, which both outlive the handshake.
      chosen?.pointee = UnsafePointer(found)
      return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
    }
  }
}

/// The contexts of a listener at one time: one for each certificate.
// Sound as @unchecked Sendable: constant after its initialisation.
final class TLSServerContexts: @unchecked Sendable {
  fileprivate let generation: Int
  private let identities: [LoadedIdentity]
  private let contexts: [TLSServerContext]

  fileprivate init(_ settings: TLSServerSettings, ticketKeys: [UInt8]) throws(TransportError) {
    (identities, generation) = settings.certificates.current
    var contexts: [TLSServerContext] = []
    for identity in identities { contexts.append(try TLSServerContext(identity, settings, ticketKeys: ticketKeys)) }
    self.contexts = contexts
    vesta_tls_on_server_name(
      contexts[0].pointer,
      { session, _, argument in
        guard let session, let argument else { return SSL_TLSEXT_ERR_NOACK }
        return Unmanaged<TLSServerContexts>.fromOpaque(argument)._withUnsafeGuaranteedRef { $0.choose(session) }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// A session of a new connection.
  func session(_ descriptor: Int32) throws(TransportError) -> TLSSession {
    let session = try TLSSession(contexts[0].pointer, keeping: self, descriptor)
    SSL_set_accept_state(session.pointer)
    return session
  }

  /// Switches to the certificate of the host that the client names.
  private func choose(_ session: OpaquePointer) -> Int32 {
    guard contexts.count > 1, let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name) else {
      return SSL_TLSEXT_ERR_OK
    }
    if let index = identities.firstIndex(where: { $0.isFor(name) }), index > 0 {
      SSL_set_SSL_CTX(session, contexts[index].pointer)
    }
    return SSL_TLSEXT_ERR_OK
  }
}

/// The TLS of a listener: its contexts, made anew when the certificates were replaced.
final class TLSServerSecurity: Sendable {
  let settings: TLSServerSettings
  /// The keys with which tickets are sealed, the same on all loops and for all certificates of the listener.
  private let ticketKeys: [UInt8]
  private let contexts: Locked<TLSServerContexts>

  init(_ settings: TLSServerSettings) throws(TransportError) {
    self.settings = settings
    ticketKeys = SystemRandom.bytes(80)
    contexts = Locked(try TLSServerContexts(settings, ticketKeys: ticketKeys))
  }

  func session(_ descriptor: Int32) throws(TransportError) -> TLSSession { try current.session(descriptor) }

  private var current: TLSServerContexts {
    let kept = contexts.withLock { $0 }
    guard kept.generation != settings.certificates.current.generation,
      let made = try? TLSServerContexts(settings, ticketKeys: ticketKeys)
    else { return kept }
    contexts.withLock { $0 = made }
    return made
  }
}

/// The context of a client.
// Sound as @unchecked Sendable: as its superclass.
final class TLSClientContext: TLSContext, @unchecked Sendable {
  init(_ settings: TLSClientSettings) throws(TransportError) {
    try super.init(TLS_client_method(), protocols: settings.protocols, oldestVersion: settings.oldestVersion)
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    switch settings.roots {
    case .system: SSL_CTX_set1_cert_store(pointer, Self.systemRoots)
    case .systemAnd(let pem):
      SSL_CTX_set_default_verify_paths(pointer)
      try add(pem)
    case .pem(let pem): try add(pem)
    }
    if !offer.isEmpty { SSL_CTX_set_alpn_protos(pointer, offer, UInt32(offer.count)) }
    vesta_tls_on_new_session(pointer) { session, resumption in
      guard let session, let resumption, let argument = SSL_get_ex_data(session, 0) else { return 0 }
      // The callback is given a reference; 1 says that it keeps it.
      let isKept = Unmanaged<TLSSession>.fromOpaque(argument)._withUnsafeGuaranteedRef { $0.keep(resumption) }
      return isKept ? 1 : 0
    }
  }

  /// The roots of the system, which all clients of the process share: to read some 140 certificates takes a tenth of a
  /// second, on a thread that may be one of the few of all tasks.
  // Sound as nonisolated(unsafe): made once, and OpenSSL lets threads share it.
  nonisolated(unsafe) private static let systemRoots: OpaquePointer? = {
    let store = X509_STORE_new()
    X509_STORE_set_default_paths(store)
    ERR_clear_error()
    return store
  }()

  private func add(_ pem: [UInt8]) throws(TransportError) {
    let roots = PEM.certificates(pem)
    defer { roots.forEach { X509_free($0) } }
    guard !roots.isEmpty, let store = SSL_CTX_get_cert_store(pointer) else {
      throw TransportError(
        .invalidArgument, "The roots to trust have no certificate of PEM in them.", mayHaveBeenProcessed: false)
    }
    for root in roots { X509_STORE_add_cert(store, root) }
    ERR_clear_error()
  }

  /// A session of a connection to a host, whose certificate must name it.
  ///
  /// - Parameter protocols: The protocols to offer by ALPN in place of the protocols of the settings.
  func session(
    _ descriptor: Int32, host: String, protocols: [String]? = nil, resuming kept: TLSResumption?
  ) throws(TransportError) -> TLSSession {
    let session = try TLSSession(pointer, keeping: self, descriptor)
    SSL_set_connect_state(session.pointer)
    guard Self.expect(host, of: session) else {
      throw TransportError(.invalidArgument, "\(host) is no name of a host.", mayHaveBeenProcessed: false)
    }
    if let protocols {
      let offer = ALPN.offer(protocols)
      SSL_set_alpn_protos(session.pointer, offer, UInt32(offer.count))
    }
    if let kept { SSL_set_session(session.pointer, kept.pointer) }
    return session
  }

  /// Sets the host that the certificate of the server must name.
  ///
  /// - Returns: Whether OpenSSL accepts its name.
  private static func expect(_ host: String, of session: TLSSession) -> Bool {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    guard SocketAddress(host: host, port: 0) == nil else {
      return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.pointer), name) == 1
    }
    let isSet = SSL_set1_host(session.pointer, name) == 1 && vesta_tls_set_server_name(session.pointer, name) == 1
    SSL_set_hostflags(session.pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    return isSet
  }
}

/// A session of before, with which a new one needs no certificate.
// Sound as @unchecked Sendable: OpenSSL counts references atomically, and nothing of it changes.
final class TLSResumption: @unchecked Sendable {
  let pointer: OpaquePointer

  /// - Parameter pointer: A reference, which becomes this object's.
  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { SSL_SESSION_free(pointer) }
}
