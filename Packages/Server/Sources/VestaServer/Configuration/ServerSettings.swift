/// The services of a server, the directory of its data, and the addresses at which it listens.
public struct ServerSettings: Sendable, Hashable {
  /// The project of requests that name none.
  public var project: String

  /// The directory of the data; `nil` to keep everything in memory.
  public var data: String?

  /// Whether unsigned tokens, the word "owner" and the calls of local test suites are accepted, and projects are made
  /// when they are first named.
  public var isDevelopment: Bool

  /// The hosts to listen at.
  public var hosts: [String]

  /// The hosts of single ports, by the name of the port; all others have ``hosts``.
  public var namedHosts: [String: [String]] = [:]

  /// The ports of products that are not the suite's; 0 has the system choose.
  public var ports: [String: Int]

  /// The files of security rules, by product: "firestore", "storage", "database".
  ///
  /// Without one everything is allowed in development, and nothing otherwise.
  public var rules: [String: String] = [:]

  /// The files of security rules of single databases of Firestore, buckets and databases of the tree.
  ///
  /// By product and name; all others have the files of ``rules``.
  public var namedRules: [String: [String: String]] = [:]

  /// The files of declared indexes of Firestore (`firestore.indexes.json`), by the id of the database.
  ///
  /// They are read at the start, and declared in addition to the indexes that the project has.
  public var indexes: [String: String] = [:]

  /// The addresses of functions that run in other programs, by name; `*` for all others.
  public var functions: [String: String] = [:]

  /// The address of a functions emulator, such as `127.0.0.1:5002`: its functions are called and have events; `nil` for
  /// none.
  public var functionsEmulator: String?

  /// The products that refuse calls without a valid App Check token, by the names of `AppCheckEnforcement`.
  public var enforcesAppCheck: Set<String> = []

  /// The files of a certificate with its chain and of its private key, in PEM, which are read again when they change;
  /// `nil` for ports in clear.
  public var certificate: Certificate?

  /// The contact for the push services of browsers, `mailto:` or a URL of `https`; `nil` for none of this server's.
  public var pushContact: String?

  /// The domain whose pages and apps can use the passkeys of accounts.
  public var passkeyDomain = "localhost"

  /// How often the files of the certificate are looked at.
  public var certificateInterval = Duration.seconds(5)

  /// The files of a certificate.
  public struct Certificate: Sendable, Hashable {
    /// The path of the certificate, followed by its chain.
    public var chain: String
    /// The path of the private key.
    public var key: String

    /// The files of a certificate.
    public init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
  }

  /// How often the files of rules are looked at; `nil` to read them at the start alone.
  public var rulesInterval: Duration? = .milliseconds(500)

  /// Whether a request that names another project than ``project`` is reported in the log; it is served all the same.
  public var isSingleProject = true

  /// Whether there is a line in the log for each request.
  public var isVerbose = false

  /// The connection string of PostgreSQL, whose stores are used in place of files of SQLite; `nil` for SQLite.
  public var postgres: String?

  /// The products to serve, by the names of their ports; `nil` for all.
  public var products: Set<String>?

  /// The largest number of projects; naming one more is `RESOURCE_EXHAUSTED`.
  public var projectLimit = 1_000

  /// How long exchanges may take to end when the server shuts down.
  public var grace = Duration.seconds(5)

  /// Settings.
  ///
  /// - Parameters:
  ///   - project: The project of requests that name none.
  ///   - data: The directory of the data; `nil` to keep everything in memory.
  ///   - isDevelopment: Whether credentials of local test suites are accepted.
  ///   - hosts: The hosts to listen at.
  ///   - ports: The ports of products that are not the suite's.
  public init(
    project: String = Self.noProject, data: String? = nil, isDevelopment: Bool = true, hosts: [String] = Self.loopback,
    ports: [String: Int] = [:]
  ) {
    self.project = project
    self.data = data
    self.isDevelopment = isDevelopment
    self.hosts = hosts
    self.ports = ports
  }

  /// The project that the Firebase CLI takes where none is named.
  public static let noProject = "demo-no-project"

  /// This machine alone, in both families of addresses.
  public static let loopback = ["127.0.0.1", "::1"]

  /// The name of the port at which all products are served.
  public static let shared = "all"

  /// The name of the hub's port.
  public static let hub = "hub"

  /// The ports of the Firebase CLI's suite, and one for all products.
  public static let usualPorts = [
    "auth": 9_099, "database": 9_000, "firestore": 8_080, "functions": 5_001, "storage": 9_199, "hub": 4_400,
    shared: 7_700,
  ]

  /// The scheme of the URLs of all ports.
  var scheme: String { certificate == nil ? "http" : "https" }

  /// The scheme of the hub's URLs.
  ///
  /// With `--production` it is reached from this machine alone, by a name that no certificate is for.
  var hubScheme: String { isDevelopment ? scheme : "http" }

  /// The hosts to listen at with the port of a name.
  ///
  /// The hub has all data exported and turns functions off, so with `--production` it is for this machine alone.
  func hosts(of port: String) -> [String] {
    port == Self.hub && !isDevelopment ? Self.loopback : namedHosts[port] ?? hosts
  }

  /// The port of a product; `nil` for one that shares a port.
  func port(of product: String) -> Int? { ports[product] ?? Self.usualPorts[product] }
}

/// Why a server cannot start, with what to do.
public struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// An error.
  public init(_ description: String) { self.description = description }
}
