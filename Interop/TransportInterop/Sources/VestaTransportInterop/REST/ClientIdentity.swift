import VestaBytes

/// An app as its servers know it.
public struct ClientIdentity: Sendable {
  /// The names and versions of its libraries.
  public var userAgent: String?

  /// Its id, such as `1:1234:ios:5678`.
  public var appID: String?

  /// Its API key.
  public var apiKey: String?

  /// The identifier of the program.
  public var bundleID: String?

  /// The days on which the app was used and that no request has named yet.
  public var heartbeats: HeartbeatSource?

  /// An identity.
  ///
  /// - Parameters:
  ///   - userAgent: The names and versions of its libraries.
  ///   - appID: Its id.
  ///   - apiKey: Its API key.
  ///   - bundleID: The identifier of the program.
  ///   - heartbeats: The days on which the app was used.
  public init(
    userAgent: String? = nil, appID: String? = nil, apiKey: String? = nil, bundleID: String? = nil,
    heartbeats: HeartbeatSource? = nil
  ) {
    self.userAgent = userAgent
    self.appID = appID
    self.apiKey = apiKey
    self.bundleID = bundleID
    self.heartbeats = heartbeats
  }
}

/// The days on which an app was used; each is taken once.
public struct HeartbeatSource: Sendable {
  /// Takes the days as JSON, such as `{"heartbeats":[{"agent":"a/1","dates":["2026-11-23"]}],"version":2}`; `nil` where
  /// there are none.
  public var takeDays: @Sendable () -> String?

  /// Takes today; `false` where today was taken before.
  public var takeToday: @Sendable () -> Bool

  /// A source.
  ///
  /// - Parameters:
  ///   - takeDays: Takes all days as JSON.
  ///   - takeToday: Takes today.
  public init(takeDays: @escaping @Sendable () -> String?, takeToday: @escaping @Sendable () -> Bool) {
    self.takeDays = takeDays
    self.takeToday = takeToday
  }
}

extension RESTOptions {
  /// Adds the facts about an app that a product sends, as far as these options do not have them already.
  mutating func identify(_ app: ClientIdentity, _ facts: ClientFacts) {
    add(.userAgent, app.userAgent)
    if facts.contains(.appID) { add("x-firebase-gmpid", app.appID) }
    if facts.contains(.bundleID) { add("x-ios-bundle-identifier", app.bundleID) }
    if facts.contains(.apiKey) { apiKey = apiKey ?? app.apiKey }
    // A program that sets the field by itself has chosen how often it is sent.
    guard !fields.contains(Self.client) else { return }
    if facts.contains(.heartbeatMark) { add(Self.client, app.userAgent) }
    guard let source = app.heartbeats else { return }
    if facts.contains(.heartbeatMark) {
      heartbeat = { _ in source.takeToday() ? ("x-firebase-client-log-type", "2") : nil }
    } else if facts.contains(.heartbeats) {
      heartbeat = { compression in source.takeDays().map { (Self.client, Self.field(ofDays: $0, compression)) } }
    }
  }

  private static let client: HTTPFieldName = "x-firebase-client"

  /// The days as a field: compressed by gzip where the transport has it, in base64url without padding.
  static func field(ofDays json: String, _ compression: TransportCompression?) -> String {
    let bytes = Array(json.utf8)
    guard let compression, compression.name == "gzip", let small = try? compression.compress(bytes) else {
      return Base64.url.encode(bytes)
    }
    return Base64.url.encode(small)
  }

  private mutating func add(_ name: HTTPFieldName, _ value: String?) {
    if let value, !fields.contains(name) { fields.append(name, value) }
  }
}
