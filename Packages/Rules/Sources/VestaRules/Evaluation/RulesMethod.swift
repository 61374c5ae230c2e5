/// An operation that a rule is asked about.
public enum RulesMethod: String, Sendable, CaseIterable, Hashable {
  /// One document or object is read.
  case get
  /// A query or a listing.
  case list
  /// A document or object is written that does not exist.
  case create
  /// A document or object is written that exists.
  case update
  /// A document or object is deleted.
  case delete

  /// The methods of a word of an `allow` statement.
  static func named(_ word: String) -> [RulesMethod]? {
    switch word {
    case "read": [.get, .list]
    case "write": [.create, .update, .delete]
    default: RulesMethod(rawValue: word).map { [$0] }
    }
  }
}
