import VestaConcurrency
public import VestaTransportInterop

/// The source of a server's certificate and private key.
public enum TLSIdentity: Sendable, Hashable {
  /// Texts of PEM: the certificate followed by its chain to the root, and the key.
  case pem(chain: [UInt8], key: [UInt8])
  /// Files of PEM, which are read again when they have changed.
  case files(chain: String, key: String)
}

/// The certificates of a server, with their private keys; they can be replaced at any time.
///
/// A client that names a host gets the first certificate that is for it, and the first of all when none is. Connections
/// that are open keep theirs. Listeners look now and then whether files have changed
/// (`TransportTuning.certificateInterval`); when what they find cannot be used, the certificates of before stay, and
/// ``lastFailure`` says why.
public final class TLSCertificates: Sendable {
  private struct State: Sendable {
    var identities: [TLSIdentity]
    var loaded: [LoadedIdentity]
    var stamps: [PlatformFile.Stamp?]
    var generation = 0
    var failure: TransportError?
  }

  private let state: Locked<State>

  /// Loads certificates.
  ///
  /// - Parameter identities: The certificates, at least one.
  /// - Throws: `TransportError` with `.invalidArgument` and a sentence that says which file or text is wrong.
  public init(_ identities: [TLSIdentity]) throws {
    let stamps = Self.stamps(of: identities)
    state = Locked(State(identities: identities, loaded: try Self.load(identities), stamps: stamps))
  }

  /// Puts others in their place; connections from now on get them.
  ///
  /// - Throws: As ``init(_:)``; nothing has changed then.
  public func replace(with identities: [TLSIdentity]) throws {
    let stamps = Self.stamps(of: identities)
    let loaded = try Self.load(identities)
    state.withLock { state in
      (state.identities, state.loaded, state.stamps, state.failure) = (identities, loaded, stamps, nil)
      state.generation += 1
    }
  }

  /// Reads the files again, whether they have changed or not.
  ///
  /// - Throws: As ``init(_:)``; the certificates of before stay.
  public func reload() throws { try replace(with: state.withLock { $0.identities }) }

  /// The reason for which changed files were not used; `nil` once they were.
  public var lastFailure: TransportError? { state.withLock { $0.failure } }

  /// Reads the files again if one has changed since they were read.
  func reloadIfChanged() {
    let (identities, stamps) = state.withLock { ($0.identities, $0.stamps) }
    guard Self.stamps(of: identities) != stamps else { return }
    do {
      try replace(with: identities)
    } catch {
      // A half-written file is there next time.
      let failure = (error as? TransportError) ?? TransportError(.invalidArgument, "\(error)")
      state.withLock { $0.failure = failure }
    }
  }

  /// The certificates, and a number that grows when they are replaced.
  var current: (identities: [LoadedIdentity], generation: Int) { state.withLock { ($0.loaded, $0.generation) } }

  private static func stamps(of identities: [TLSIdentity]) -> [PlatformFile.Stamp?] {
    identities.flatMap { identity -> [PlatformFile.Stamp?] in
      guard case .files(let chain, let key) = identity else { return [] }
      return [PlatformFile.stamp(chain), PlatformFile.stamp(key)]
    }
  }

  private static func load(_ identities: [TLSIdentity]) throws -> [LoadedIdentity] {
    guard !identities.isEmpty else {
      throw TransportError(.invalidArgument, "A server needs a certificate.", mayHaveBeenProcessed: false)
    }
    return try identities.map { identity in
      switch identity {
      case .pem(let chain, let key):
        return try LoadedIdentity(chain: chain, key: key, names: ("The certificate", "The private key"))
      case .files(let chain, let key):
        return try LoadedIdentity(chain: read(chain), key: read(key), names: (chain, key))
      }
    }
  }

  private static func read(_ path: String) throws -> [UInt8] {
    guard let bytes = PlatformFile.read(path, limit: 1 << 20) else {
      throw TransportError(
        .invalidArgument, "\(path) cannot be read: check that it is there and that this user may read it.",
        mayHaveBeenProcessed: false)
    }
    return bytes
  }
}
