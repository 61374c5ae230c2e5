import VestaBytes
import VestaServiceInterop

/// The parameters of a query as members of a message.
enum RESTQuery {
  /// Parameters that all of Google's APIs have, and that change nothing here.
  private static let ignored: Set = [
    "key", "alt", "$alt", "prettyPrint", "$prettyPrint", "fields", "$fields", "access_token", "oauth_token",
    "quotaUser", "uploadType", "upload_protocol", "$.xgafv", "callback",
  ]

  private static let repeated: Set = [
    "mask.fieldPaths", "mask.field_paths", "updateMask.fieldPaths",
    "updateMask.field_paths", "update_mask.field_paths",
  ]

  private static let flags: Set = [
    "currentDocument.exists", "current_document.exists", "showMissing", "show_missing", "showDeleted",
  ]

  /// The members that the path and the body have.
  private static let taken: Set = ["name", "parent", "collectionId", "collection_id", "database", "document"]

  /// Puts the parameters into a message.
  ///
  /// - Parameters:
  ///   - query: The query, percent-encoded.
  ///   - object: The message.
  ///   - isWhole: Whether the body is the whole message, so that a query has no members of it.
  static func bind(_ query: Substring?, to object: inout JSONObject, isWhole: Bool) throws(ServiceStatus) {
    guard let query, !query.isEmpty else { return }
    guard let fields = try? FormFields(query) else {
      throw ServiceStatus(.invalidArgument, "The query of the URL is malformed.")
    }
    for field in fields.fields where !ignored.contains(field.name) {
      let path = field.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard !isWhole, path.count <= 2, let root = path.first, !root.isEmpty, !taken.contains(root) else {
        throw unknown(field.name)
      }
      let value = try value(of: field)
      guard path.count == 2 else {
        object[root] = value
        continue
      }
      var inner = object[root]?.object ?? JSONObject()
      if repeated.contains(field.name) {
        inner[path[1]] = .array((inner[path[1]]?.array ?? []) + [value])
      } else {
        inner[path[1]] = value
      }
      object[root] = .object(inner)
    }
  }

  private static func value(of field: FormFields.Field) throws(ServiceStatus) -> JSONValue {
    guard flags.contains(field.name) else { return .string(field.value) }
    switch field.value {
    case "true", "1", "": return .bool(true)
    case "false", "0": return .bool(false)
    default:
      throw ServiceStatus(
        .invalidArgument, "Invalid value at '\(field.name)' (TYPE_BOOL), \"\(field.value.prefix(100))\"")
    }
  }

  private static func unknown(_ name: String) -> ServiceStatus {
    ServiceStatus(
      .invalidArgument,
      "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\": Cannot bind query parameter.")
  }
}
