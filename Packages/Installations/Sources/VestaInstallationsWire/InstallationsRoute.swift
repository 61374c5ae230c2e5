public import VestaBytes

/// A call of the service of installations by its method and target.
public struct InstallationsRoute: Sendable, Hashable {
  /// The calls.
  public enum Call: Sendable, Hashable {
    /// Creates an installation.
    case create
    /// Makes a token of an installation.
    case generateToken(id: String)
    /// Deletes an installation.
    case delete(id: String)
  }

  /// The project.
  public var project: String
  /// The call.
  public var call: Call

  /// A route.
  public init(project: String, _ call: Call) {
    self.project = project
    self.call = call
  }

  /// Reads a route; paths may end in a slash, as Apple's SDK writes them.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` for a path that is not percent-encoded well.
  public init?(method: String, target: String) throws(BytesError) {
    var path: [String] = []
    for part in target.prefix(while: { $0 != "?" }).parts(at: "/", maxSplits: 7, omittingEmpty: true) {
      path.append(try PercentEncoding.decode(part))
    }
    guard path.count >= 4, path[0] == "v1", path[1] == "projects", path[3] == "installations" else { return nil }
    switch (method, path.count) {
    case ("POST", 4): self.init(project: path[2], .create)
    case ("DELETE", 5): self.init(project: path[2], .delete(id: path[4]))
    case ("POST", 6) where path[5] == "authTokens:generate":
      self.init(project: path[2], .generateToken(id: path[4]))
    default: return nil
    }
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .create, .generateToken: "POST"
    case .delete: "DELETE"
    }
  }

  /// The path.
  public var target: String {
    let encoding = PercentEncoding.unreserved
    let base = "/v1/projects/\(encoding.encode(project))/installations"
    return switch call {
    case .create: base
    case .generateToken(let id): "\(base)/\(encoding.encode(id))/authTokens:generate"
    case .delete(let id): "\(base)/\(encoding.encode(id))"
    }
  }
}
