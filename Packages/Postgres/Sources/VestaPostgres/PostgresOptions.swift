/// Where the stores of an app are, and how many connections they may have.
public struct PostgresOptions: Sendable {
  /// The connection string: `postgresql://user@host/database?sslmode=verify-full`, or pairs of keywords and values.
  ///
  /// Any parameter of libpq is allowed, several hosts included (`target_session_attrs=read-write` finds the primary
  /// one). Each host is tried for `connect_timeout`, ten seconds where it is not given. `nil` for the variable
  /// `VESTA_POSTGRES_URL` of the environment.
  public var url: String?

  /// Separates the stores of this app from those of other apps in the database; the same in all processes of an app.
  ///
  /// `nil` for the data directory of the app, so that two apps of one machine do not share what they never meant to.
  public var space: String?

  /// The prefix of the names of the schemas: up to ten letters, digits and `_`.
  public var schemaPrefix = "vesta"

  /// The number of connections for bodies that read, besides one that commits and one that is notified of commits.
  public var connections = 8

  /// How long commits wait for a server that cannot be reached, and anybody for a single answer of it.
  ///
  /// The time of a commit begins with its first failure.
  public var patience: Duration = .seconds(30)

  /// Options; all have defaults.
  public init() {}
}
