public import VestaBytes
public import VestaRemoteConfigBackend

/// A call of the service by its method and target.
public struct RemoteConfigRoute: Sendable, Hashable {
  /// The calls.
  public enum Call: Sendable, Hashable {
    /// An app fetches its values.
    case fetch
    /// An app waits for newer templates.
    case invalidations
    /// Reads a template; `nil` for the current version.
    case template(version: Int64?)
    /// Publishes a template, or checks it only.
    case publish(isValidateOnly: Bool)
    /// Publishes an earlier version again.
    case rollback
    /// Lists versions; the namespace of the request is that of the route.
    case listVersions(ListVersionsRequest)
    /// Reads the default values as a file.
    case downloadDefaults(DefaultsFormat)
  }

  /// The project: its id or its number.
  public var project: String
  /// The namespace: `firebase` for apps, `firebase-server` for servers.
  public var namespace: String
  /// The call.
  public var call: Call

  /// A route.
  public init(project: String, namespace: String = "firebase", _ call: Call) {
    self.project = project
    self.namespace = namespace
    self.call = call
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` with `.malformed` for a parameter that has no such value.
  public init?(method: String, target: String) throws(BytesError) {
    let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let fields = try FormFields(parts.count > 1 ? String(Substring(parts[1])) : "")
    var path: [String] = []
    for part in parts[0].split(separator: UInt8(ascii: "/"), maxSplits: 8) {
      path.append(try PercentEncoding.decode(Substring(part)))
    }
    guard path.count >= 4, path[0] == "v1", path[1] == "projects" else { return nil }
    project = path[2]
    if path.count == 4, path[3].hasPrefix("remoteConfig") {
      namespace = "firebase"
    } else if path.count >= 5, path[3] == "namespaces" {
      let name = path[4].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      namespace = path.count == 5 ? String(name[0]) : path[4]
      if path.count == 5 { path[4] = name.count == 2 ? ":" + name[1] : "" }
    } else {
      return nil
    }
    guard ConfigNamespace.isValid(namespace), path.count <= 6, let last = path.last,
      let call = try Self.call(
        method, last.replacingPrefix("serverRemoteConfig", with: "remoteConfig"), fields, namespace)
    else { return nil }
    self.call = call
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .fetch, .invalidations, .rollback: "POST"
    case .publish: "PUT"
    case .template, .listVersions, .downloadDefaults: "GET"
    }
  }

  /// The path and the query.
  public var target: String {
    let encoding = PercentEncoding.unreserved
    let base = "/v1/projects/\(encoding.encode(project))"
    let isServer = namespace == "firebase-server"
    let inNamespace = "\(base)/namespaces/\(encoding.encode(namespace))"
    let template =
      isServer
      ? "\(inNamespace)/serverRemoteConfig"
      : namespace == "firebase" ? "\(base)/remoteConfig" : "\(inNamespace)/remoteConfig"
    var fields = FormFields()
    let path: String
    switch call {
    case .fetch: path = "\(inNamespace):fetch"
    case .invalidations: path = "\(inNamespace):streamFetchInvalidations"
    case .template(let version):
      path = template
      fields.append("versionNumber", version.map { "\($0)" })
    case .publish(let isValidateOnly):
      path = template
      if isValidateOnly { fields.append("validateOnly", "true") }
    case .rollback: path = "\(template):rollback"
    case .listVersions(let request):
      path = "\(template):listVersions"
      Self.append(request, to: &fields)
    case .downloadDefaults(let format):
      path = "\(template):downloadDefaults"
      fields.append("format", format.rawValue)
    }
    return fields.fields.isEmpty ? path : "\(path)?\(fields.text)"
  }

  // MARK: Parts

  private static func call(
    _ method: String, _ name: String, _ fields: FormFields, _ namespace: String
  ) throws(BytesError) -> Call? {
    switch (method, name) {
    case ("POST", ":fetch"): return .fetch
    case ("POST", ":streamFetchInvalidations"): return .invalidations
    case ("GET", "remoteConfig"): return .template(version: try number(fields, "versionNumber", "version_number"))
    case ("PUT", "remoteConfig"):
      return .publish(isValidateOnly: (fields["validateOnly"] ?? fields["validate_only"]) == "true")
    case ("POST", "remoteConfig:rollback"): return .rollback
    case ("GET", "remoteConfig:listVersions"): return .listVersions(try listVersions(fields, namespace))
    case ("GET", "remoteConfig:downloadDefaults"):
      guard let format = DefaultsFormat(rawValue: (fields["format"] ?? "JSON").uppercased()) else {
        throw BytesError(.malformed, "the format of the defaults is unknown")
      }
      return .downloadDefaults(format)
    default: return nil
    }
  }

  private static func number(_ fields: FormFields, _ names: String...) throws(BytesError) -> Int64? {
    for name in names {
      guard let text = fields[name] else { continue }
      guard let number = Int64(text) else { throw BytesError(.malformed, "the parameter \(name) is no number") }
      return number
    }
    return nil
  }

  private static func time(_ fields: FormFields, _ names: String...) throws(BytesError) -> Int64? {
    for name in names {
      guard let text = fields[name] else { continue }
      guard let time = RFC3339.microseconds(of: text) else {
        throw BytesError(.malformed, "the parameter \(name) is no time")
      }
      return time
    }
    return nil
  }

  private static func listVersions(_ fields: FormFields, _ namespace: String) throws(BytesError) -> ListVersionsRequest
  {
    var request = ListVersionsRequest(namespace: namespace)
    if let size = try number(fields, "pageSize", "page_size") {
      guard let count = Int(exactly: size) else { throw BytesError(.malformed, "the parameter pageSize is no number") }
      request.pageSize = count == 0 ? 300 : count
    }
    let token = fields["pageToken"] ?? fields["page_token"]
    request.pageToken = token?.isEmpty == true ? nil : token
    request.endVersion = try number(fields, "endVersionNumber", "end_version_number")
    request.startTime = try time(fields, "startTime", "start_time")
    request.endTime = try time(fields, "endTime", "end_time")
    return request
  }

  private static func append(_ request: ListVersionsRequest, to fields: inout FormFields) {
    fields.append("pageSize", "\(request.pageSize)")
    fields.append("pageToken", request.pageToken)
    fields.append("endVersionNumber", request.endVersion.map { "\($0)" })
    fields.append("startTime", request.startTime.map { RFC3339.text(microseconds: $0) })
    fields.append("endTime", request.endTime.map { RFC3339.text(microseconds: $0) })
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
