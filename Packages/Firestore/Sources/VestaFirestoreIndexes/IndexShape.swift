package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The contents of an index: for the documents of collections with one identifier, values of fields and the name.
package struct IndexShape: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case ascending = 0
    case descending = 1
    /// One entry for each different element of an array.
    case contains = 2
  }

  package struct Part: Hashable, Sendable {
    package var path: FieldPath
    package var kind: Kind

    package init(path: FieldPath, kind: Kind) {
      self.path = path
      self.kind = kind
    }
  }

  package var collectionID: CollectionID
  /// Whether one range holds all collections of this identifier; else each collection has its own.
  package var isGroup: Bool
  package var parts: [Part]
  /// Whether names are in descending order.
  package var isNameDescending = false

  package init(collectionID: CollectionID, isGroup: Bool, parts: [Part], isNameDescending: Bool = false) {
    self.collectionID = collectionID
    self.isGroup = isGroup
    self.parts = parts
    self.isNameDescending = isNameDescending
  }

  /// The ends of the keys of a document's entries, with their values; none when it lacks a field.
  package func entries(_ path: ResourcePath, _ fields: MapValue, at pathKey: PathKey) -> [[UInt8]: [UInt8]] {
    var heads = [start(of: path.parent)]
    var doubles: [Bool] = []
    for part in parts {
      guard let value = fields[part.path] else { return [:] }
      var values = [value]
      if part.kind == .contains {
        guard case .array(let elements) = value else { return [:] }
        values = elements
      }
      doubles.append(part.kind != .contains && value.isDoubleLikeInteger)
      heads = heads.flatMap { head in values.map { appended($0, descending: part.kind == .descending, to: head) } }
    }
    let value = EntryValue(pathKey: pathKey, doubles: doubles).bytes
    return Dictionary(heads.map { (appended(name: path, to: $0), value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the key prefix of a collection's entries.
  package func start(of collection: ResourcePath) -> [UInt8] {
    if isGroup { return [] }
    var encoder = IndexEncoder()
    encoder.append(path: collection)
    return encoder.bytes
  }

  package func appended(_ value: Value, descending: Bool, to head: [UInt8]) -> [UInt8] {
    var encoder = IndexEncoder(continuing: head)
    encoder.append(value, descending: descending)
    return encoder.bytes
  }

  package func appended(name path: ResourcePath, to head: [UInt8]) -> [UInt8] {
    let name = NameCoding(collection: isGroup ? nil : path.parent).bytes(path)
    return head + (isNameDescending ? name.turned : name)
  }

  /// The index with every direction turned, which holds the same in the opposite order.
  package var turned: IndexShape {
    var shape = self
    shape.isNameDescending.toggle()
    for index in parts.indices where parts[index].kind != .contains {
      shape.parts[index].kind = parts[index].kind == .ascending ? .descending : .ascending
    }
    return shape
  }

  /// For people, such as `(price ASC, __name__ ASC)`.
  package var properties: String {
    let names = ["ASC", "DESC", "CONTAINS"]
    let fields = parts.map { "\($0.path) \(names[Int($0.kind.rawValue)])" }
    return "(" + (fields + ["__name__ \(isNameDescending ? "DESC" : "ASC")"]).joined(separator: ", ") + ")"
  }
}

/// The value of an entry: the document's path key, and what the key does not say about its numbers.
///
/// `1` and `1.0` are one value in an index, but their sums are not. A bit for each part of the index says which it
/// was.
package struct EntryValue: Equatable, Sendable {
  package var pathKey: PathKey
  /// For each part whether its value is a double that could be an integer; may be shorter.
  package var doubles: [Bool]

  package init(pathKey: PathKey, doubles: [Bool]) {
    self.pathKey = pathKey
    self.doubles = doubles
  }

  package var bytes: [UInt8] {
    let count = (doubles.lastIndex(of: true) ?? -1) + 1
    var bits = [UInt8](repeating: 0, count: (count + 7) / 8)
    for index in 0..<count where doubles[index] { bits[index / 8] |= 1 << UInt8(index % 8) }
    return [UInt8(bits.count)] + bits + pathKey.bytes
  }

  /// The place in the bytes of a value.
  package static func pathKey(_ bytes: [UInt8]) -> PathKey {
    PathKey(bytes: Array(bytes.dropFirst(1 + Int(bytes.first ?? 0))))
  }

  /// Whether the value of a part is a double that could be an integer.
  package static func isDouble(_ bytes: [UInt8], part: Int) -> Bool {
    guard let count = bytes.first, part / 8 < count else { return false }
    return bytes[1 + part / 8] & 1 << UInt8(part % 8) != 0
  }
}

extension Value {
  fileprivate var isDoubleLikeInteger: Bool {
    guard case .double(let number) = self else { return false }
    return number == number.rounded(.towardZero)
  }
}
