/// The database of an app's stores, and the number of their connections.
public struct PostgresOptions: Sendable {
  /// The connection string: `postgresql://user@host/database?sslmode=verify-full`, or pairs of keywords and values.
  ///
  /// Any parameter of libpq is allowed, several hosts included (`target_session_attrs=read-write` finds the primary
  /// one). `nil` for the variable `VESTA_POSTGRES_URL` of the environment.
  public var url: String?

  /// Separates the stores of this app from those of other apps in the database; the same in all processes of an app.
  ///
  /// `nil` for the data directory of the app, so that two apps on one machine do not share data by accident.
  public var space: String?

  /// The prefix of the names of the schemas: up to ten letters, digits and `_`.
  public var schemaPrefix = "vesta"

  /// The number of connections of a store for bodies that read, besides one that commits and one that listens for
  /// commits.
  public var connections = 8

  /// The time that commits wait for a server that cannot be reached, and for each of its answers.
  public var patience: Duration = .seconds(30)

  /// Options; all have defaults.
  public init() {}
}
