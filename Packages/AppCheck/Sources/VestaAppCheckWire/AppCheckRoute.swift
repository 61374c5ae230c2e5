public import VestaBytes

/// A call of the service of App Check by its method and target.
public struct AppCheckRoute: Sendable, Hashable {
  /// The kinds of proofs that are exchanged.
  public enum ProofKind: String, Sendable, Hashable {
    /// A secret for development.
    case debug = "exchangeDebugToken"
    /// A token that the owner's server has signed.
    case custom = "exchangeCustomToken"
  }

  /// The calls.
  public enum Call: Sendable, Hashable {
    /// Gives a token for a proof.
    case exchange(ProofKind, appID: String)
    /// The owner makes a secret for development.
    case addDebugSecret(appID: String)
    /// The owner removes a secret for development.
    case removeDebugSecret(appID: String, secret: String)
    /// Verifies a token, and consumes it.
    case consume
    /// The keys that verify tokens.
    case keys
  }

  /// The project; `nil` for the keys at the place where Admin SDKs look for them.
  public var project: String?
  /// The call.
  public var call: Call

  /// A route.
  public init(project: String?, _ call: Call) {
    self.project = project
    self.call = call
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` for a path that is not percent-encoded well.
  public init?(method: String, target: String) throws(BytesError) {
    var path: [String] = []
    for part in target.prefix(while: { $0 != "?" }).parts(at: "/", maxSplits: 8, omittingEmpty: true) {
      path.append(try PercentEncoding.decode(part))
    }
    guard let version = path.first, version == "v1" || version == "v1beta" else { return nil }
    switch (method, path.count) {
    case ("GET", 2) where path[1] == "jwks": self.init(project: nil, .keys)
    case ("GET", 4) where path[1] == "projects" && path[3] == "jwks": self.init(project: path[2], .keys)
    case ("POST", 3) where path[1] == "projects" && path[2].hasSuffix(":verifyAppCheckToken"):
      self.init(project: String(path[2].prefix { $0 != ":" }), .consume)
    case (_, 5...7) where path[1] == "projects" && path[3] == "apps":
      guard let call = Self.call(method, Array(path[4...])) else { return nil }
      self.init(project: path[2], call)
    default: return nil
    }
  }

  /// The calls of an app; `path` begins with its id, which has colons itself.
  private static func call(_ method: String, _ path: [String]) -> Call? {
    switch (method, path.count) {
    case ("POST", 1):
      guard let colon = path[0].lastIndex(of: ":"),
        let kind = ProofKind(rawValue: String(path[0][colon...].dropFirst()))
      else { return nil }
      return .exchange(kind, appID: String(path[0][..<colon]))
    case ("POST", 2) where path[1] == "debugTokens": return .addDebugSecret(appID: path[0])
    case ("DELETE", 3) where path[1] == "debugTokens": return .removeDebugSecret(appID: path[0], secret: path[2])
    default: return nil
    }
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .exchange, .addDebugSecret, .consume: "POST"
    case .removeDebugSecret: "DELETE"
    case .keys: "GET"
    }
  }

  /// The path.
  public var target: String {
    let encode = PercentEncoding.unreserved.encode
    let base = project.map { "/v1/projects/\(encode($0))" } ?? "/v1"
    return switch call {
    case .exchange(let kind, let appID): "\(base)/apps/\(encode(appID)):\(kind.rawValue)"
    case .addDebugSecret(let appID): "\(base)/apps/\(encode(appID))/debugTokens"
    case .removeDebugSecret(let appID, let secret): "\(base)/apps/\(encode(appID))/debugTokens/\(encode(secret))"
    // The only version that has it.
    case .consume: "/v1beta/projects/\(encode(project ?? "-")):verifyAppCheckToken"
    case .keys: "\(base)/jwks"
    }
  }
}
