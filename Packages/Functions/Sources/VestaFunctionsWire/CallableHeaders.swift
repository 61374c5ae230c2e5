/// The headers of a call that say who calls and how it is to be answered.
public struct CallableHeaders: Sendable, Hashable {
  /// The token of the caller, as `authorization` has it: an ID token, or that of an owner.
  public var bearerToken: String?
  /// The registration token for messages.
  public var instanceIDToken: String?
  /// The token of App Check.
  public var appCheckToken: String?
  /// Whether the answer is a stream of events.
  public var wantsStream: Bool

  /// Headers.
  public init(
    bearerToken: String? = nil, instanceIDToken: String? = nil, appCheckToken: String? = nil, wantsStream: Bool = false
  ) {
    self.bearerToken = bearerToken
    self.instanceIDToken = instanceIDToken
    self.appCheckToken = appCheckToken
    self.wantsStream = wantsStream
  }

  /// Reads headers.
  ///
  /// - Parameter field: Returns the value of a header field by its name in lower case.
  public init(field: (String) -> String?) {
    let parts = field("authorization")?.split(separator: " ", maxSplits: 1) ?? []
    if parts.count == 2, parts[0].lowercased() == "bearer" { bearerToken = String(parts[1]) }
    instanceIDToken = field("firebase-instance-id-token")
    appCheckToken = field("x-firebase-appcheck")
    // Equal and not contained: clients that merely accept events among others take one answer.
    wantsStream = field("accept") == "text/event-stream"
  }

  /// The header fields, by their names in lower case.
  public var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = [("content-type", CallableWire.contentType)]
    if let token = bearerToken { fields.append(("authorization", "Bearer \(token)")) }
    if let token = instanceIDToken { fields.append(("firebase-instance-id-token", token)) }
    if let token = appCheckToken { fields.append(("x-firebase-appcheck", token)) }
    if wantsStream { fields.append(("accept", "text/event-stream")) }
    return fields
  }
}
