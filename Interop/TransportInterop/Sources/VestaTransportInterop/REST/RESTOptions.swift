public import VestaServiceInterop

/// How a ``RESTChannel`` identifies its callers, and its limits.
public struct RESTOptions: Sendable {
  /// Fields of every request, such as `user-agent` and `x-firebase-gmpid`.
  public var fields: HTTPFields

  /// The API key of calls whose context has none; it travels in a field, so that no log of addresses has it.
  public var apiKey: String?

  /// Returns the bearer token with which the owner of the project calls; without one the owner's calls are refused.
  public var ownerToken: (@Sendable () async throws -> String)?

  /// The scheme of the field in which the ID token of a user is sent; Firebase's storage has a different one.
  public var userScheme = "Bearer"

  /// Whether tokens are sent in clear text to other machines.
  ///
  /// Never enable in production.
  /// They are always sent to this machine, and over TLS.
  public var allowsInsecureTokens: Bool

  /// Makes the field that says once a day that the app is used; called for each request, with ``compression``.
  var heartbeat: (@Sendable (TransportCompression?) -> (HTTPFieldName, String)?)?

  /// The way to decompress answers; answers are not asked to be compressed without one.
  public var compression: TransportCompression?

  /// The time for a call whose context has no deadline, and for the head of a stream.
  public var timeout: Duration

  /// The most bytes of an answer, also when it is decompressed.
  public var maximumAnswer: Int

  /// Options.
  ///
  /// - Parameters:
  ///   - fields: Fields of every request.
  ///   - apiKey: The API key of calls whose context has none.
  ///   - ownerToken: Returns the bearer token of the owner.
  ///   - allowsInsecureTokens: Whether tokens are sent in clear text to other machines.
  ///   - compression: The way to decompress answers.
  ///   - timeout: The time for a call whose context has no deadline.
  ///   - maximumAnswer: The most bytes of an answer.
  public init(
    fields: HTTPFields = [:], apiKey: String? = nil, ownerToken: (@Sendable () async throws -> String)? = nil,
    allowsInsecureTokens: Bool = false, compression: TransportCompression? = nil, timeout: Duration = .seconds(60),
    maximumAnswer: Int = 16 << 20
  ) {
    self.fields = fields
    self.apiKey = apiKey
    self.ownerToken = ownerToken
    self.allowsInsecureTokens = allowsInsecureTokens
    self.compression = compression
    self.timeout = timeout
    self.maximumAnswer = maximumAnswer
  }

  /// Adds what names an app to a server, as far as these options do not name it already.
  ///
  /// - Parameters:
  ///   - userAgent: The names and versions of its libraries.
  ///   - appID: Its id, such as `1:1234:ios:5678`.
  ///   - apiKey: Its key.
  public mutating func identify(userAgent: String?, appID: String?, apiKey: String?) {
    identify(ClientIdentity(userAgent: userAgent, appID: appID, apiKey: apiKey), [.appID, .apiKey])
  }

  /// Adds what an app brings as components, as far as these options do not have it already.
  ///
  /// - Parameters:
  ///   - compression: The way to decompress answers.
  ///   - owner: Returns the credential of the owner.
  ///   - isEmulator: Whether the server is a local emulator, which knows the owner by a word.
  public mutating func complete(
    compression: TransportCompression?, owner: (any OwnerTokenSource)?, isEmulator: Bool
  ) {
    self.compression = self.compression ?? compression
    if ownerToken != nil { return }
    if isEmulator {
      ownerToken = { "owner" }
    } else if let owner {
      ownerToken = { try await owner.token() }
    }
  }
}

/// The libraries that provide a transport, for the sentence of a remote backend that has none.
public enum TransportLibraries {
  /// For `Dependency.required(_:providedBy:)`.
  public static let providedBy = "TransportLibrary of VestaTransport (Packages/Transport)"
}
