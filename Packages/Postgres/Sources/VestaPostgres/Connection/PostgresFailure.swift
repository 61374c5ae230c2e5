/// Why the server did not do what it was asked.
enum PostgresFailure: Error, Sendable, Equatable {
  /// There is no connection, or no longer: the request may have been served.
  case lost(String)
  /// The connection was lost, and nothing was sent.
  case unsent(String)
  /// The server refused, with a code of SQL.
  case refused(state: String, message: String)
  /// The connection string cannot be read.
  case malformed(String)
  /// The loop or the pool has been closed.
  case closed

  /// The failure of a connection that could not be opened: with a code of SQL where the server gave one.
  init(connecting text: String) {
    // In its long form libpq writes `FATAL:  53300: sorry, too many clients already`, and where in the server.
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
    for line in lines {
      var rest = Substring(line)
      while let found = rest.firstRange(of: ":  ") {
        rest = rest[found.upperBound...]
        let code = rest.prefix(5)
        let isCode = code.utf8.count == 5 && code.utf8.allSatisfy(PostgresFailure.isPartOfCode)
        guard isCode, rest.dropFirst(5).hasPrefix(": ") else { continue }
        self = .refused(state: String(code), message: String(rest.dropFirst(7)))
        return
      }
    }
    self = .lost(lines.joined(separator: " "))
  }

  private static func isPartOfCode(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  /// Whether the same again may succeed at once: another transaction was in the way, or was waited for until the
  /// role's time-out.
  var isConflict: Bool {
    if case .refused(let state, _) = self { return ["40001", "40P01", "55P03", "57014"].contains(state) }
    return false
  }

  /// Whether a lock was held for too long.
  var isLockTimeout: Bool {
    if case .refused("55P03", _) = self { return true }
    return false
  }

  /// Whether a server that is restarted or has too many connections may do it later, or another connection at once.
  var isPassing: Bool {
    switch self {
    case .lost, .unsent: true
    // The server has ended a session that held a lock and said nothing.
    case .refused("25P03", _), .refused("25P04", _): true
    case .refused(let state, _): state.hasPrefix("57P") || state.hasPrefix("08") || state == "53300"
    case .closed, .malformed: false
    }
  }

  /// Whether what was asked may have been done all the same: the answer got lost, or the server was going down.
  var isUncertain: Bool {
    switch self {
    case .lost, .closed: true
    case .refused(let state, _): state.hasPrefix("57P") || state.hasPrefix("08")
    case .unsent, .malformed: false
    }
  }

  /// Whether the next host of a connection string may be tried: not where this one knows user and database, and
  /// refuses them.
  var allowsAnotherHost: Bool {
    switch self {
    case .lost, .unsent: true
    case .refused(let state, _): !state.hasPrefix("28") && !state.hasPrefix("3D")
    case .closed, .malformed: false
    }
  }
}
