public import VestaBytes
public import VestaRemoteConfigBackend
public import VestaServiceInterop

/// Templates and versions as bodies of the administration's API, and back.
///
/// A template itself has its JSON in the seam. Its ETag travels in the header `etag`; a publish names the template that
/// it replaces in `if-match`, `*` for any.
public enum TemplateWire {
  /// The header of a publish with the ETag of the template that may be replaced.
  public static let matchHeader = "if-match"

  /// The value of the header `if-match`.
  public static func match(of precondition: PublishRequest.Precondition) -> String {
    switch precondition {
    case .etag(let etag): etag
    case .any: "*"
    }
  }

  /// The template that may be replaced, by the header `if-match`; `nil` when it is missing, which is an error.
  public static func precondition(match: String?) -> PublishRequest.Precondition? {
    match.map { $0 == "*" ? .any : .etag($0) }
  }

  /// The body of a rollback.
  public static func body(rollbackTo version: Int64) -> [UInt8] { (try? RollbackSchema.json(of: version)) ?? [] }

  /// The version that a rollback restores.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public static func rollbackVersion(_ body: [UInt8]) throws(BytesError) -> Int64 {
    guard let version = try RollbackSchema.message(json: body, ignoresUnknownNames: true) else {
      throw BytesError(.malformed, "the version number is missing")
    }
    return version
  }

  /// The body of a page of versions.
  public static func body(of page: VersionPage) throws(BytesError) -> [UInt8] { try VersionPageSchema.json(of: page) }

  /// Reads a page of versions.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func page(_ body: [UInt8]) throws(BytesError) -> VersionPage {
    try VersionPageSchema.message(json: body, limits: JSONLimits(), ignoresUnknownNames: true)
  }
}

/// The statement of a rollback: the version, if the body has one.
private enum RollbackSchema: ProtobufSchema {
  static var empty: Int64? { nil }

  static func visit(_ version: inout Int64?, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "versionNumber", &version, ProtobufInt64.self)
  }
}

/// The statement of a page of versions.
private enum VersionPageSchema: ProtobufSchema {
  static var empty: VersionPage { VersionPage(versions: []) }

  static func visit(_ page: inout VersionPage, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "versions", &page.versions, VersionKind.self)
    try visitor.optional(2, "nextPageToken", &page.nextPageToken, ProtobufString.self)
  }
}

/// A version has its JSON in the seam.
private enum VersionKind: JSONKind {
  static func write(_ value: ConfigVersion, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try writer.write(JSONValue(json: value.json))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> ConfigVersion {
    guard let object = json.object, let version = try? ConfigVersion(json: object.json()) else {
      throw reader.malformed("this is no version")
    }
    return version
  }
}

/// Errors of the service as responses, and back: violations of a template are details of a bad request, in which the
/// number of a character stands before its sentence.
public enum RemoteConfigErrorWire {
  /// The status of HTTP; a template that has changed is 412 for a publish.
  public static func status(of error: RemoteConfigServiceError, on call: RemoteConfigRoute.Call) -> Int {
    if case .publish = call, error.code == .failedPrecondition { return 412 }
    return error.code.httpStatus
  }

  /// The body of a response.
  public static func body(of error: RemoteConfigServiceError, status: Int) -> [UInt8] {
    let violations = error.violations.map { violation -> ErrorDetail in
      let place = violation.column.map { "character \($0): " } ?? ""
      return .badRequest(field: violation.path, description: place + violation.message)
    }
    let failure = ServiceStatus(error.code, error.message, details: error.errorDetails + violations)
    return (try? failure.envelope(httpStatus: status).object.json()) ?? []
  }

  /// The error of a response that is not a success.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP, which counts where the body names no code.
  ///   - body: The body.
  public static func error(status: Int, body: [UInt8]) -> RemoteConfigServiceError {
    error(ServiceStatus(httpStatus: status, body: body))
  }

  /// The error of the failure that a response states.
  public static func error(_ failure: ServiceStatus) -> RemoteConfigServiceError {
    var (violations, details): ([TemplateViolation], [ErrorDetail]) = ([], [])
    for detail in failure.details {
      switch detail {
      case .badRequest(let field, let description): violations.append(violation(field, description))
      default: details.append(detail)
      }
    }
    return RemoteConfigServiceError(failure.code, failure.message, violations: violations, errorDetails: details)
  }

  private static func violation(_ field: String, _ text: String) -> TemplateViolation {
    let prefix = "character "
    if text.hasPrefix(prefix), let colon = text.firstIndex(of: ":"),
      let column = Int(text[text.index(text.startIndex, offsetBy: prefix.count)..<colon]),
      text[colon...].hasPrefix(": ")
    {
      return TemplateViolation(path: field, column: column, message: String(text[colon...].dropFirst(2)))
    }
    return TemplateViolation(path: field, message: text)
  }
}
