import FirestoreInterop
import FirestoreModel

/// What an index holds: for the documents of the collections with one identifier, values of fields and the name.
struct IndexShape: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    case ascending = 0
    case descending = 1
    /// One entry for each different element of an array.
    case contains = 2
  }

  struct Part: Hashable, Sendable {
    var path: FieldPath
    var kind: Kind
  }

  var collectionID: String
  /// Whether one range holds all collections of this identifier; else each collection has its own.
  var isGroup: Bool
  var parts: [Part]
  /// Whether names come last first.
  var isNameDescending = false

  static func == (left: IndexShape, right: IndexShape) -> Bool {
    UTF8Order.equal(left.collectionID, right.collectionID) && left.isGroup == right.isGroup
      && left.parts == right.parts && left.isNameDescending == right.isNameDescending
  }

  func hash(into hasher: inout Hasher) {
    UTF8Order.hash(collectionID, into: &hasher)
    hasher.combine(parts)
  }

  /// The ends of the keys of a document's entries; none when it lacks a field.
  func entries(_ path: ResourcePath, _ fields: MapValue) -> Set<[UInt8]> {
    var heads = [start(of: path.parent)]
    for part in parts {
      guard let value = fields[part.path] else { return [] }
      var values = [value]
      if part.kind == .contains {
        guard case .array(let elements) = value else { return [] }
        values = elements
      }
      heads = Array(
        Set(heads.flatMap { head in values.map { appended($0, descending: part.kind == .descending, to: head) } }))
    }
    return Set(heads.map { appended(name: path, to: $0) })
  }

  /// How the keys for a collection begin.
  func start(of collection: ResourcePath) -> [UInt8] {
    if isGroup { return [] }
    var encoder = IndexEncoder()
    encoder.append(path: collection)
    return encoder.bytes
  }

  func appended(_ value: Value, descending: Bool, to head: [UInt8]) -> [UInt8] {
    var encoder = IndexEncoder(continuing: head)
    encoder.append(value, descending: descending)
    return encoder.bytes
  }

  func appended(name path: ResourcePath, to head: [UInt8]) -> [UInt8] {
    var encoder = IndexEncoder(continuing: head)
    encoder.append(path: isGroup ? path : ResourcePath([path.lastSegment]), descending: isNameDescending)
    return encoder.bytes
  }

  /// For people, such as `(price ASC, __name__ ASC)`.
  var properties: String {
    let names = ["ASC", "DESC", "CONTAINS"]
    let fields = parts.map { "\($0.path) \(names[Int($0.kind.rawValue)])" }
    return "(" + (fields + ["__name__ \(isNameDescending ? "DESC" : "ASC")"]).joined(separator: ", ") + ")"
  }
}
