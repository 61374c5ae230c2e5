public import VestaBytes
public import VestaRemoteConfigBackend
import VestaServiceInterop

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
  public static func body(rollbackTo version: Int64) -> [UInt8] { Array(#"{"versionNumber":"\#(version)"}"#.utf8) }

  /// The version that a rollback restores.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public static func rollbackVersion(_ body: [UInt8]) throws(BytesError) -> Int64 {
    let object = try JSONObject(json: body)
    let value = object["versionNumber"] ?? object["version_number"]
    guard let version = value?.string.flatMap({ Int64($0) }) ?? value?.integer else {
      throw BytesError(.malformed, "the version number is missing")
    }
    return version
  }

  /// The body of a page of versions.
  public static func body(of page: VersionPage) throws(BytesError) -> [UInt8] {
    var object = JSONObject()
    var versions: [JSONValue] = []
    for version in page.versions { versions.append(try JSONValue(json: version.json)) }
    if !versions.isEmpty { object["versions"] = .array(versions) }
    object["nextPageToken"] = page.nextPageToken.map(JSONValue.string)
    return try object.json()
  }

  /// Reads a page of versions.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func page(_ body: [UInt8]) throws(BytesError) -> VersionPage {
    let object = try JSONObject(json: body)
    var versions: [ConfigVersion] = []
    for json in object["versions"]?.array ?? [] {
      guard let version = try? ConfigVersion(json: json.json()) else {
        throw BytesError(.malformed, "a version cannot be read")
      }
      versions.append(version)
    }
    return VersionPage(versions: versions, nextPageToken: object["nextPageToken"]?.string)
  }
}

/// Errors of the service as responses, and back.
public enum RemoteConfigErrorWire {
  private static let badRequest = "type.googleapis.com/google.rpc.BadRequest"

  /// The status of HTTP; a template that has changed is 412 for a publish.
  public static func status(of error: RemoteConfigServiceError, on call: RemoteConfigRoute.Call) -> Int {
    if case .publish = call, error.code == .failedPrecondition { return 412 }
    return error.code.httpStatus
  }

  /// The body of a response.
  public static func body(of error: RemoteConfigServiceError, status: Int) -> [UInt8] {
    var details: [JSONValue] = []
    if !error.violations.isEmpty {
      let violations = error.violations.map { violation -> JSONValue in
        let place = violation.column.map { "character \($0): " } ?? ""
        return ["field": .string(violation.path), "description": .string(place + violation.message)]
      }
      details = [["@type": .string(badRequest), "fieldViolations": .array(violations)]]
    }
    let envelope = ErrorEnvelope(code: status, message: error.message, status: error.code.name, details: details)
    return (try? envelope.object.json()) ?? []
  }

  /// The error of a response that is not a success.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP, which counts where the body names no code.
  ///   - body: The body.
  public static func error(status: Int, body: [UInt8]) -> RemoteConfigServiceError {
    let envelope = ErrorEnvelope(json: body)
    let named = envelope?.status.flatMap { ServiceCode(name: $0) }
    let code = named ?? (status == 412 ? .failedPrecondition : ServiceCode(httpStatus: status))
    let violations = (envelope?.details ?? []).flatMap { detail -> [TemplateViolation] in
      guard let object = detail.object, object["@type"]?.string == badRequest else { return [] }
      return (object["fieldViolations"]?.array ?? []).compactMap(violation)
    }
    return RemoteConfigServiceError(code, envelope?.message ?? "HTTP status \(status)", violations: violations)
  }

  private static func violation(_ json: JSONValue) -> TemplateViolation? {
    guard let object = json.object, let field = object["field"]?.string else { return nil }
    let text = object["description"]?.string ?? ""
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
