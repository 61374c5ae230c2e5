import CVestaPostgres

/// A connection string as libpq reads it.
///
/// It may have a password in it, or something that is read as another part because a character is not escaped. So no
/// error has a part of it.
enum ConnectionString {
  /// Its keywords, with their values.
  static func options(of info: String) throws(PostgresFailure) -> [String: String] {
    try checkURL(info)
    var complaint: UnsafeMutablePointer<CChar>?
    guard let list = PQconninfoParse(info, &complaint) else {
      let text = complaint.map { String(cString: $0) } ?? ""
      PQfreemem(complaint)
      throw .malformed(sentence(for: text))
    }
    defer { PQconninfoFree(list) }
    var options: [String: String] = [:]
    // Unsafe pointers of libpq, read until the list ends with an entry without a keyword.
    var entry = list
    while let keyword = entry.pointee.keyword {
      if let value = entry.pointee.val { options[String(cString: keyword)] = String(cString: value) }
      entry += 1
    }
    try check(options)
    return options
  }

  /// Refuses a URL whose user or password has a character that ends them.
  private static func checkURL(_ info: String) throws(PostgresFailure) {
    guard let scheme = ["postgresql://", "postgres://"].first(where: info.hasPrefix) else { return }
    let rest = info.dropFirst(scheme.count).prefix { $0 != "?" }
    let (authority, path) = (rest.prefix { $0 != "/" }, rest.drop { $0 != "/" })
    guard authority.count(where: { $0 == "@" }) <= 1, !path.contains("@") else { throw .malformed(unescaped) }
    // A question mark ends it as well: the rest has the @ then.
    let parameters = info.dropFirst(scheme.count + rest.count)
    if !rest.contains("@"), parameters.prefix(while: { $0 != "=" }).contains("@") { throw .malformed(unescaped) }
  }

  /// Refuses parts that cannot be what they are read as: errors of the connection would name them.
  private static func check(_ options: [String: String]) throws(PostgresFailure) {
    for port in (options["port"] ?? "").split(separator: ",") where Int(port) == nil {
      throw .malformed("The port is no number. \(unescaped)")
    }
    for host in (options["host"] ?? "").split(separator: ",") where host.dropFirst().contains("@") {
      throw .malformed(unescaped)
    }
  }

  private static let unescaped =
    "In a user or password write %25 %40 %3A %2F %3F %23 %5B %5D for the characters % @ : / ? # [ ]."

  /// A sentence of our own for a complaint of libpq, which quotes from the string.
  private static func sentence(for complaint: String) -> String {
    if complaint.contains("percent-encoded") || complaint.contains("%00") {
      return "A % is not followed by two hexadecimal digits. \(unescaped)"
    }
    if complaint.contains("missing \"=\"") {
      return "A keyword has no = after it. Put values with spaces in single quotes."
    }
    if complaint.contains("unterminated quoted") { return "A value in single quotes does not end." }
    if complaint.contains("matching \"]\"") || complaint.contains("IPv6") || complaint.contains("unexpected character")
    {
      return "The host cannot be read. \(unescaped)"
    }
    if complaint.contains("invalid connection option") || complaint.contains("invalid URI query parameter") {
      return "It has a parameter that libpq does not know."
    }
    return "libpq cannot read it. \(unescaped)"
  }
}
