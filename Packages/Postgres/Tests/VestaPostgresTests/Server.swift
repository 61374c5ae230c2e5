import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

/// The tests that share the server of `Scripts/with-postgres`, some of which kill it: one at a time.
///
/// Without that script they are left out: no existing database is ever touched.
@Suite(.serialized, .enabled(if: Server.isThere, "run this package's tests by Scripts/with-postgres"))
enum OneAtATime {}

/// The throw-away server.
enum Server {
  private static let environment = ProcessInfo.processInfo.environment

  static var isThere: Bool { environment["VESTA_POSTGRES_URL"] != nil && environment["VESTA_POSTGRES_CONTROL"] != nil }

  static var url: String { environment["VESTA_POSTGRES_URL"] ?? "" }

  /// The server, for another role or another database.
  static func url(user: String? = nil, database: String? = nil) -> String {
    var url = url
    if let user { url = url.replacingOccurrences(of: "vesta@", with: "\(user)@") }
    if let database { url = url.replacingOccurrences(of: "/postgres?", with: "/\(database)?") }
    return url
  }

  static func user(of url: String) -> String {
    String(url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "@" })
  }

  /// Asks again and again until something is so.
  static func waitUntil(_ question: String) async throws {
    while try await run(question)[0].bytes(0, 0) != [1] { await Task.yield() }
  }

  /// Kills, stops or starts the server.
  static func control(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: environment["VESTA_POSTGRES_CONTROL"] ?? "/nowhere")
    process.arguments = [command]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "the server: \(command)")
  }

  /// Runs statements on a separate connection.
  @discardableResult
  static func run(_ sql: String) async throws -> [Rows] {
    let loop = try PostgresLoop(patience: .seconds(30))
    defer { loop.stop() }
    return try await loop.open(try Connector(url)).run(Statement(sql, isPrepared: false))
  }

  /// Cuts every other connection, wherever it is in its protocol.
  static func cutConnections() async throws {
    try await run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
      AND backend_type = 'client backend'
      """
    )
  }

  /// Opens a store as one more process would.
  static func open(
    _ space: String, named name: String = "test", clock: StoreClock = .system, followsServer: Bool = false,
    _ change: (inout PostgresOptions) -> Void = { _ in }
  ) async throws -> PostgresStore {
    var options = PostgresOptions()
    options.url = url
    change(&options)
    return try await PostgresStore.open(
      named: name, in: space, options: options, storeOptions: StoreOptions(clock: clock), followsServer: followsServer)
  }

  static func newSpace() -> String { UUID().uuidString }
}

extension PostgresTuning {
  /// Small figures, the same ones for the same seed, so that a few keys reach the limits.
  static func small(seed: UInt64) -> PostgresTuning {
    var (tuning, random) = (PostgresTuning(), SplitMix(seed: seed))
    tuning.largestUnit = 1 + random.below(4)
    tuning.partBytes = 1 + random.below(40)
    tuning.partEntries = 1 + random.below(3)
    tuning.attemptsBeside = 1 + random.below(6)
    tuning.changedBytes = random.below(30)
    tuning.conflictSpan = 1 + Int64(random.below(1_000_000))
    tuning.conflictKeys = 1 + random.below(20)
    (tuning.firstEntries, tuning.firstBytes) = (1 + random.below(3), 1 + random.below(40))
    (tuning.largestEntries, tuning.largestBytes) = (1 + random.below(9), 1 + random.below(200))
    return tuning
  }
}

func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

func number(_ value: Int) -> [UInt8] { Array(String(value).utf8) }

func number(in value: [UInt8]?) -> Int { value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }
