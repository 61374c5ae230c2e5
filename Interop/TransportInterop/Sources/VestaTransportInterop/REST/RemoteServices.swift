public import VestaServiceInterop

/// The servers of an app: the common part of its remote backends, whatever product they belong to.
///
/// A transport provides it as a component, made of what the app brings: its identity, its `RESTOptions`, the credential
/// of its owner. The library of a remote backend names the address and the facts that its product sends.
///
/// ```swift
/// let services = try container.require(RemoteServices.self)
/// let service = try services.service(at: "https://vesta.example", isEmulator: false, sending: [.apiKey, .heartbeats])
/// ```
public struct RemoteServices: Sendable {
  /// Sends the requests.
  public var client: any HTTPClient

  /// The app as its servers know it.
  public var app: ClientIdentity

  /// The options that the app has chosen; its identity completes them.
  public var options: RESTOptions

  /// Returns the credential of the owner.
  public var owner: (any OwnerTokenSource)?

  /// The servers of an app.
  ///
  /// - Parameters:
  ///   - client: Sends the requests.
  ///   - app: The app as its servers know it.
  ///   - options: The options that the app has chosen.
  ///   - owner: Returns the credential of the owner.
  public init(
    _ client: any HTTPClient, app: ClientIdentity = ClientIdentity(), options: RESTOptions = RESTOptions(),
    owner: (any OwnerTokenSource)? = nil
  ) {
    self.client = client
    self.app = app
    self.options = options
    self.owner = owner
  }

  /// The server of a product.
  ///
  /// - Parameters:
  ///   - origin: Its scheme, host and port.
  ///   - isEmulator: Whether it is a local emulator, which knows the owner by a word.
  ///   - facts: The facts about the app that the product sends.
  /// - Throws: `ServiceStatus` for a text that is no URL.
  public func service(
    at origin: String, isEmulator: Bool, sending facts: ClientFacts
  ) throws(ServiceStatus) -> RESTService {
    var options = options
    options.identify(app, facts)
    options.complete(compression: nil, owner: owner, isEmulator: isEmulator)
    return try RESTService(client, at: origin, options: options)
  }
}

/// The facts about an app that a product sends to its servers, in addition to the names of its libraries.
public struct ClientFacts: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: Int

  /// A set by its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The API key, in `x-goog-api-key`.
  public static let apiKey = ClientFacts(rawValue: 1)

  /// The id of the app, in `x-firebase-gmpid`.
  public static let appID = ClientFacts(rawValue: 2)

  /// The identifier of the program, in `x-ios-bundle-identifier`: API keys may be restricted by it.
  public static let bundleID = ClientFacts(rawValue: 4)

  /// The days on which the app was used, in `x-firebase-client`.
  public static let heartbeats = ClientFacts(rawValue: 8)

  /// The names of the libraries in `x-firebase-client`, and once a day a mark in `x-firebase-client-log-type`: the
  /// form in which Firestore's clients say that an app is used.
  public static let heartbeatMark = ClientFacts(rawValue: 16)
}
