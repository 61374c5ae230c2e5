/// Where the stores of an app are, and how many connections they may have.
///
/// Its description, and that of everything that has it, leaves out the password.
public struct PostgresOptions: Sendable {
  /// The connection string: `postgresql://user@host/database?sslmode=verify-full`, or pairs of keywords and values.
  ///
  /// Any parameter of libpq is allowed, several hosts included (`target_session_attrs=read-write` finds the primary
  /// one). Each host is tried for `connect_timeout`, ten seconds where it is not given. `nil` for the variable
  /// `VESTA_POSTGRES_URL` of the environment.
  ///
  /// In a URL the characters `% @ : / ? # [ ]` of a user or password are written as `%25 %40 %3A %2F %3F %23 %5B %5D`.
  public var url: String?

  /// The password, in place of one in the connection string; `nil` for that one, or one of a password file.
  public var password: String?

  /// Separates the stores of this app from other apps' stores in the database; the same in all processes of an app.
  ///
  /// `nil` for the variable `VESTA_POSTGRES_SPACE` of the environment; without it the data directory of the app, so
  /// that two apps of one machine do not share what they never meant to. Processes with other data directories share
  /// nothing then.
  public var space: String?

  /// The prefix of the names of the schemas: up to ten letters, digits and `_`, but not `pg`, which PostgreSQL keeps
  /// for itself.
  public var schemaPrefix = "vesta"

  /// The number of connections for bodies that read, in addition to one that commits and one that is notified of
  /// commits.
  public var connections = 8

  /// How long commits wait for a server that cannot be reached, and any call for a single answer of it.
  ///
  /// The time of a commit begins with its first failure.
  public var patience: Duration = .seconds(30)

  var tuning = PostgresTuning()

  /// Options; all have defaults.
  public init() {}
}

extension PostgresOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Host, user and database, and the other options.
  public var description: String {
    "PostgresOptions(\(parts.map { "\($0 ?? ""): \($1)" }.joined(separator: ", ")))"
  }

  /// As ``description``.
  public var debugDescription: String { description }

  /// The same for `dump`.
  public var customMirror: Mirror { Mirror(self, children: parts.map { ($0, $1 as Any) }, displayStyle: .struct) }

  private var parts: [(label: String?, value: String)] {
    let place: String
    if let url {
      let options = try? ConnectionString.options(of: url)
      let known = ["host", "port", "user", "dbname"].compactMap { name in options?[name].map { "\(name)=\($0)" } }
      place = options == nil ? "a connection string that cannot be read" : known.joined(separator: " ")
    } else {
      place = "that of VESTA_POSTGRES_URL"
    }
    return [
      ("url", place), ("password", password == nil ? "none" : "set"), ("space", space ?? "none"),
      ("schemaPrefix", schemaPrefix), ("connections", "\(connections)"), ("patience", "\(patience)"),
    ]
  }
}

/// A connection string and a password, which nothing prints.
struct ConnectionInfo: Sendable, CustomStringConvertible, CustomReflectable {
  let text: String
  var password: String?

  var description: String { "a connection string" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
