package import VestaFirestoreBackend

/// The way to a field: names of maps within each other.
///
/// As a string, names are joined by dots. A name that is not simple, which is letters, digits and underscores and no
/// digit first, is written between backticks, with a backslash before backticks and backslashes in it.
package struct FieldPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The names, at least one.
  package let names: [String]

  /// The path `__name__`, which means the name of the document.
  package static let documentName = FieldPath(["__name__"])

  /// A path of names, taken as they are.
  package init(_ names: [String]) { self.names = names }

  /// A path as requests have it.
  ///
  /// - Throws: `INVALID_ARGUMENT` that quotes the string.
  package init(parsing text: String) throws(FirestoreServiceError) {
    guard !text.isEmpty else { throw .invalid("Invalid field path: it is empty.") }
    guard text.utf8.count <= FirestoreLimits.fieldPathLength else {
      throw .invalid("property path is longer than \(FirestoreLimits.fieldPathLength) bytes.")
    }
    var scanner = FieldPathScanner(bytes: Array(text.utf8))
    guard let names = scanner.scan() else { throw .invalid("Invalid field path \"\(text)\".") }
    self.names = names
  }

  /// Whether the path means the name of the document.
  package var isDocumentName: Bool { names.count == 1 && names[0] == "__name__" }

  /// Whether the path is the other one, or within it.
  package func hasPrefix(_ other: FieldPath) -> Bool {
    names.count >= other.names.count && zip(names, other.names).allSatisfy { UTF8Order.equal($0, $1) }
  }

  /// Below zero, zero, or above zero, by names and then by length.
  package func compare(_ other: FieldPath) -> Int {
    for (left, right) in zip(names, other.names) {
      let order = UTF8Order.compare(left, right)
      if order != 0 { return order }
    }
    return names.count - other.names.count
  }

  /// Whether the path sorts before the other one.
  package static func < (left: FieldPath, right: FieldPath) -> Bool { left.compare(right) < 0 }

  /// Whether the names have the same bytes.
  package static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.names.count == right.names.count && left.hasPrefix(right)
  }

  /// Feeds the parts that equality compares to a hasher.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(names.count)
    for name in names { UTF8Order.hash(name, into: &hasher) }
  }

  /// The path as requests have it, with quotes where they are needed.
  package var description: String { names.map(FieldPath.quoted).joined(separator: ".") }

  /// Checks that a path can be used in a mask, a selection or a figure.
  ///
  /// - Throws: `INVALID_ARGUMENT` for names that are reserved; `__name__` is a field only as the whole path.
  package func checkForQuery() throws(FirestoreServiceError) {
    if !isDocumentName { try checkForResult() }
  }

  /// Checks that a path can be a field that a query adds to its results.
  ///
  /// - Throws: `INVALID_ARGUMENT` for names that are reserved.
  package func checkForResult() throws(FirestoreServiceError) {
    for name in names where PathRules.isReserved(name) { throw FieldPath.reserved(name) }
  }

  /// Checks that a path can be used in a filter or an order, where the type of a nested value is a field like others.
  ///
  /// - Throws: `INVALID_ARGUMENT` for names that are reserved; `__name__` is a field only as the whole path.
  package func checkForComparison() throws(FirestoreServiceError) {
    if isDocumentName { return }
    for (index, name) in names.enumerated() where PathRules.isReserved(name) {
      if index == 0 || name != Value.typeKey { throw FieldPath.reserved(name) }
    }
  }

  private static func reserved(_ name: String) -> FirestoreServiceError {
    // The service calls the document's name a key here.
    .invalid("the name \(name == "__name__" ? "__key__" : name) is reserved")
  }

  private static func quoted(_ name: String) -> String {
    if isSimple(name.utf8) { return name }
    var result = "`"
    for scalar in name.unicodeScalars {
      if scalar == "`" || scalar == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "`"
  }

  static func isSimple(_ name: some Collection<UInt8>) -> Bool {
    guard let first = name.first, !isDigit(first) else { return false }
    return name.allSatisfy { isDigit($0) || isLetter($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == UInt8(ascii: "_")
  }
}

/// Reads the string of a field path.
struct FieldPathScanner {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The names; `nil` when the string is no path.
  mutating func scan() -> [String]? {
    var names: [String] = []
    while true {
      let isQuoted = position < bytes.count && bytes[position] == UInt8(ascii: "`")
      guard let name = isQuoted ? quotedName() : simpleName() else { return nil }
      names.append(name)
      if position == bytes.count { return names }
      guard bytes[position] == UInt8(ascii: ".") else { return nil }
      position += 1
    }
  }

  private mutating func simpleName() -> String? {
    let name = bytes[position...].prefix { $0 != UInt8(ascii: ".") }
    guard FieldPath.isSimple(name) else { return nil }
    position += name.count
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func quotedName() -> String? {
    position += 1
    var name: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "`"): return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard position < bytes.count else { return nil }
        name.append(bytes[position])
        position += 1
      default: name.append(byte)
      }
    }
    return nil
  }
}
