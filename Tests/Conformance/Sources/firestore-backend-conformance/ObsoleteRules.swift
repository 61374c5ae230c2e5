import VestaFirestoreBackend

/// Recordings that the service of today would answer in another way, or that are about something else than queries.
enum ObsoleteRules {
  /// Why an action is not compared; `nil` when it is.
  static func reason(for action: TraceAction) throws -> String? {
    if action.kind != "run_query" { return nil }
    if action.code == 9, action.message.contains("currently building") {
      return "wants an index that the recording's project had, and that was not ready"
    }
    return relaxed.first { action.code == 3 && action.message.contains($0.text) }?.reason
  }

  /// Texts of refusals that the service has given up since.
  private static let relaxed: [(text: String, reason: String)] = [
    (
      "Cannot have inequality filters on multiple properties",
      "refuses inequalities on several fields, which are allowed now"
    ),
    (
      "inequality filter property and first sort order must be the same",
      "refuses to order by another field than the inequality's, which is allowed now"
    ),
    (
      "Only a single 'IN', 'NOT_IN', or 'ARRAY_CONTAINS_ANY' filter allowed per query",
      "refuses several IN and ARRAY_CONTAINS_ANY, which are allowed now"
    ),
    ("supports up to 10 comparison values", "refuses more than 10 values, where 30 are allowed now"),
    (
      "order by clause cannot contain a field with an equality filter",
      "refuses to order by a field with an equality, which is allowed now"
    ),
  ]
}
