import CVestaPostgres

/// A connection string as libpq reads it.
enum ConnectionString {
  /// Its keywords, with their values.
  static func options(of info: String) throws(PostgresFailure) -> [String: String] {
    var complaint: UnsafeMutablePointer<CChar>?
    guard let list = PQconninfoParse(info, &complaint) else {
      let text = complaint.map { String(cString: $0) } ?? "It cannot be read."
      PQfreemem(complaint)
      throw .malformed(text.split(whereSeparator: \.isNewline).first.map(String.init) ?? text)
    }
    defer { PQconninfoFree(list) }
    var options: [String: String] = [:]
    // Unsafe pointers of libpq, read until the list ends with an entry without a keyword.
    var entry = list
    while let keyword = entry.pointee.keyword {
      if let value = entry.pointee.val { options[String(cString: keyword)] = String(cString: value) }
      entry += 1
    }
    return options
  }
}
