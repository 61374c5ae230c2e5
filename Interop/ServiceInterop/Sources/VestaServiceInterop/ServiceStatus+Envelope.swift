public import VestaBytes

extension ServiceStatus {
  /// The failure of a response of HTTP that is no success.
  ///
  /// The name of the code in the body counts, then the status of HTTP: 409 and 400 stand for several codes.
  ///
  /// - Parameters:
  ///   - httpStatus: The status of HTTP.
  ///   - body: The body: an `ErrorEnvelope`, or anything else.
  ///   - retryAfter: The field `retry-after`; a number of seconds counts.
  public init(httpStatus: Int, body: [UInt8], retryAfter: String? = nil) {
    let envelope = ErrorEnvelope(json: body)
    let named = envelope?.status.flatMap { ServiceCode(name: $0) }
    // 502 is what a proxy says whose server is away.
    let code = named ?? (httpStatus == 502 ? .unavailable : ServiceCode(httpStatus: httpStatus))
    var details = envelope.map { $0.details.flatMap(Self.details) } ?? []
    if details.retryAfter == nil, let seconds = retryAfter.flatMap({ Int64($0) }), (0..<1 << 32).contains(seconds) {
      details.append(.retryInfo(after: .seconds(seconds)))
    }
    let message = envelope?.message ?? ""
    self.init(
      code, message.isEmpty ? "The service has answered with HTTP status \(httpStatus)." : message, details: details)
  }

  /// The failure as the body of a response.
  ///
  /// - Parameter httpStatus: The status of the response; that of the code unless given.
  public func envelope(httpStatus: Int? = nil) -> ErrorEnvelope {
    ErrorEnvelope(
      code: httpStatus ?? code.httpStatus, message: message, status: code.name, details: Self.json(of: details))
  }

  private static let types = "type.googleapis.com/google.rpc."

  // MARK: Details

  private static func details(_ json: JSONValue) -> [ErrorDetail] {
    guard let object = json.object, let type = object["@type"]?.string, type.hasPrefix(types) else { return [] }
    switch type.dropFirst(types.count) {
    case "RetryInfo":
      return (object["retryDelay"]?.string.flatMap(delay)).map { [.retryInfo(after: $0)] } ?? []
    case "BadRequest":
      return objects(object["fieldViolations"]).map {
        .badRequest(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
      }
    case "ErrorInfo":
      let metadata = (object["metadata"]?.object?.members ?? []).compactMap { member in
        member.value.string.map { (member.name, $0) }
      }
      return [
        .errorInfo(
          reason: object["reason"]?.string ?? "", domain: object["domain"]?.string ?? "",
          metadata: Dictionary(metadata) { first, _ in first })
      ]
    case "Help":
      return objects(object["links"]).map {
        .help(url: $0["url"]?.string ?? "", description: $0["description"]?.string ?? "")
      }
    default: return []
    }
  }

  private static func objects(_ json: JSONValue?) -> [JSONObject] { (json?.array ?? []).compactMap(\.object) }

  /// A length of time such as `3.5s`.
  private static func delay(_ text: String) -> Duration? {
    guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds >= 0, seconds < 1e9 else { return nil }
    return .microseconds(Int64(seconds * 1_000_000))
  }

  private static func json(of details: [ErrorDetail]) -> [JSONValue] {
    var json: [JSONValue] = []
    var (violations, links): ([JSONValue], [JSONValue]) = ([], [])
    for detail in details {
      switch detail {
      case .retryInfo(let after):
        let microseconds = max(0, after.microseconds)
        let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
        json.append([
          "@type": .string(types + "RetryInfo"), "retryDelay": .string("\(microseconds / 1_000_000).\(fraction)s"),
        ])
      case .badRequest(let field, let description):
        violations.append(["field": .string(field), "description": .string(description)])
      case .errorInfo(let reason, let domain, let metadata):
        var info: JSONObject = [
          "@type": .string(types + "ErrorInfo"), "reason": .string(reason), "domain": .string(domain),
        ]
        var object = JSONObject()
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
        if !object.isEmpty { info["metadata"] = .object(object) }
        json.append(.object(info))
      case .help(let url, let description):
        links.append(["description": .string(description), "url": .string(url)])
      }
    }
    if !violations.isEmpty {
      json.append(["@type": .string(types + "BadRequest"), "fieldViolations": .array(violations)])
    }
    if !links.isEmpty { json.append(["@type": .string(types + "Help"), "links": .array(links)]) }
    return json
  }
}
