import VestaFirestoreBackend

/// The orders of a listing as a string: `size desc, name, `a b` asc`.
enum OrderByText {
  /// The orders of a string; none of an empty one.
  ///
  /// - Throws: `INVALID_ARGUMENT` that quotes the string.
  static func orders(_ text: String) throws(FirestoreServiceError) -> [StructuredQuery.Order] {
    var orders: [StructuredQuery.Order] = []
    for part in split(text[...], at: ",") {
      let words = split(part, at: " ")
      guard let path = words.first, words.count <= 2 else { throw invalid(text) }
      var direction = StructuredQuery.Direction.ascending
      switch words.dropFirst().first?.lowercased() {
      case nil, "asc": break
      case "desc": direction = .descending
      default: throw invalid(text)
      }
      orders.append(.init(fieldPath: String(path), direction))
    }
    return orders
  }

  /// The non-empty parts between separators, of which those between backticks are none.
  private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    // By scalars: as a character, a comma with an accent on it would be no comma.
    let parts = text.unicodeScalars.split { character in
      if isEscaped {
        isEscaped = false
        return false
      }
      if character == "\\" { isEscaped = isQuoted }
      if character == "`" { isQuoted.toggle() }
      return character == separator && !isQuoted
    }
    return parts.map { Substring($0) }
  }

  private static func invalid(_ text: String) -> FirestoreServiceError {
    .refused("order_by \"\(text)\" is not valid.")
  }
}
