public import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel

/// Which orders of which paths are indexed: the `.indexOn` parts of a rules document.
///
/// ```swift
/// let indexes = try DatabaseIndexes(rules: #"{"rules": {"rooms": {"$room": {".indexOn": ["size", "owner/name"]}}}}"#)
/// ```
public struct DatabaseIndexes: Sendable, Hashable {
  /// One index.
  struct Definition: Sendable, Hashable {
    /// The keys of the path; `nil` for one that matches every key.
    let pattern: [String?]
    /// The path below each child by whose value the children are ordered; the root path for the child itself.
    let path: DatabasePath

    var index: DatabaseIndex { path.isRoot ? .value : .child(path) }

    func matches(_ keys: ArraySlice<DatabaseKey>) -> Bool {
      guard keys.count == pattern.count else { return false }
      return zip(pattern, keys).allSatisfy { $0.0 == nil || DatabaseKey($0.0 ?? "") == $0.1 }
    }
  }

  private(set) var definitions: [Definition] = []

  /// No index.
  public init() {}

  /// The indexes of a rules document.
  ///
  /// - Parameter rules: The document, as the compiler of rules accepts it: JSON with comments, line ends in strings and
  ///   a comma after the last member of an object. Rules other than `.indexOn` are ignored.
  /// - Throws: `BytesError` with the place of the first byte that cannot be read.
  public init(rules: String) throws(BytesError) {
    let document: PlacedJSON
    do throws(PlacedJSON.Failure) {
      document = try PlacedJSON(text: Array(rules.utf8))
    } catch {
      throw BytesError(.malformed, "The rules cannot be read at byte \(error.at).")
    }
    guard let rules = document.value.object?["rules"]?.object else {
      throw BytesError(.malformed, "The document has no object \"rules\".")
    }
    try add(rules, at: [])
  }

  /// Adds one index.
  ///
  /// - Parameters:
  ///   - path: The path whose children are ordered; a part that begins with `$` matches every key.
  ///   - child: The path of the value below each child; ".value" for the child itself.
  public mutating func add(path: String, indexOn child: String) {
    add(child, at: path.parts(at: "/", omittingEmpty: true).map { $0.hasPrefix("$") ? nil : String($0) })
  }

  /// Adds the indexes of others.
  mutating func add(_ others: DatabaseIndexes) {
    for definition in others.definitions where !definitions.contains(definition) { definitions.append(definition) }
  }

  private mutating func add(_ rules: JSONObject, at pattern: [String?]) throws(BytesError) {
    for member in rules.members {
      if member.name == ".indexOn" {
        for child in try children(member.value) { add(child, at: pattern) }
      } else if !member.name.hasPrefix("."), let below = member.value.object {
        try add(below, at: pattern + [member.name.hasPrefix("$") ? nil : member.name])
      }
    }
  }

  private mutating func add(_ child: String, at pattern: [String?]) {
    let definition = Definition(pattern: pattern, path: child == ".value" ? .root : DatabasePath(child))
    if !definitions.contains(definition) { definitions.append(definition) }
  }

  private func children(_ value: JSONValue) throws(BytesError) -> [String] {
    if let text = value.string { return [text] }
    if let texts = value.array?.compactMap(\.string), texts.count == value.array?.count { return texts }
    throw BytesError(.malformed, "\".indexOn\" is neither a string nor a list of strings.")
  }
}
