/// What goes along with every call: whose call it is.
public struct FirestoreCallContext: Sendable, Hashable {
  /// In whose name a call is made.
  public enum Authorization: Sendable, Hashable {
    /// Nobody's: rules see no user.
    case none
    /// The owner of the project: rules are not asked.
    ///
    /// Within a process, server code says so of itself. An adapter on the wire says it only of callers that it has
    /// checked.
    case owner
    /// The user of an ID token, which the backend checks.
    case idToken(String)
  }

  /// In whose name the call is made.
  public var authorization: Authorization

  /// The caller's App Check token, or its placeholder.
  public var appCheckToken: String?

  /// A context.
  public init(authorization: Authorization = .none, appCheckToken: String? = nil) {
    self.authorization = authorization
    self.appCheckToken = appCheckToken
  }
}
