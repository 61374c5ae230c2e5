import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Servers that are there and do not do what they are asked: each says why, by its code.
  @Suite struct RefusalTests {
    /// A separate role, with its special settings, and a store that it may use.
    private func role(_ special: String, _ body: (String, String) async throws -> Void) async throws {
      let space = Server.newSpace()
      let name = "role_\(Schema.digest(of: space))"
      try await Server.run("CREATE ROLE \(name) LOGIN")
      try await Server.run("GRANT CREATE ON DATABASE postgres TO \(name)")
      let url = Server.url(user: name)
      try await Server.open(space) { $0.url = url }.close()
      if !special.isEmpty { try await Server.run("ALTER ROLE \(name) \(special)") }
      try await body(space, url)
    }

    @Test(arguments: ["pg", "pg_", "PG_x"])
    func `a prefix that PostgreSQL keeps for itself is refused with a hint`(prefix: String) async throws {
      let error = await #expect(throws: StoreError.self) {
        try await Server.open(Server.newSpace()) { $0.schemaPrefix = prefix }
      }
      #expect(error?.code == .invalidName && error?.hint?.contains("schemaPrefix") == true)
    }

    @Test func `a password in a separate option is sent, and in no error`() async throws {
      try await role("PASSWORD 'secretPW'") { space, url in
        let store = try await Server.open(space) {
          $0.url = url
          $0.password = "secretPW"
        }
        try await store.put([1], for: key(0))
        try await store.close()
      }
    }

    @Test func `a server without a free connection says so, and is used when there is one`() async throws {
      try await role("CONNECTION LIMIT 2") { space, url in
        let loop = try PostgresLoop(patience: .seconds(30))
        defer { loop.stop() }
        let connector = try Connector(url)
        let others = [try await loop.open(connector), try await loop.open(connector)]
        let open = { @Sendable in
          try await Server.open(space) {
            $0.url = url
            $0.patience = .milliseconds(400)
          }
        }
        let refusal = await #expect(throws: StoreError.self) { try await open() }
        #expect(refusal?.code == .inputOutput && refusal?.message.contains("53300") == true)
        #expect(refusal?.hint?.contains("max_connections") == true)
        for other in others { other.drop() }
        try await Server.waitUntil(
          "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = '\(Server.user(of: url))'")

        let store = try await open()
        try await store.put(number(1), for: key(0))
        // The commit's connection and one more; the next reader finds none.
        let other = try await loop.open(connector)
        let refused = await #expect(throws: StoreError.self) { try await store.get(key(0)) }
        #expect(refused?.code == .inputOutput && refused?.message.contains("53300") == true)
        try await store.put(number(2), for: key(0))
        other.drop()
        try await Server.waitUntil(
          "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = '\(Server.user(of: url))'")
        #expect(number(in: try await store.get(key(0))) == 2)
        try await store.close()
      }
    }

    @Test func `a server that only reads refuses writes with a sentence, and is read`() async throws {
      try await role("SET default_transaction_read_only = on") { space, url in
        let store = try await Server.open(space) { $0.url = url }
        #expect(try await store.get(key(0)) == nil)
        let refusals = [
          await #expect(throws: StoreError.self) { try await store.put([1], for: key(0)) },
          await #expect(throws: StoreError.self) { try await store.raiseFloor(to: nil) },
        ]
        #expect(refusals.allSatisfy { $0?.code == .readOnly && $0?.hint?.contains("primary") == true })
        try await store.close()
      }
    }

    @Test func `a time-out of statements cuts a wait for the lock, and not a commit`() async throws {
      try await role("SET statement_timeout = '150ms'") { space, url in
        let store = try await Server.open(space) { $0.url = url }
        let schema = Schema(prefix: "vesta", store: "test", directory: space)
        let loop = try PostgresLoop(patience: .seconds(30))
        defer { loop.stop() }
        let holder = try await loop.open(try Connector(Server.url))
        try await holder.run(Statement("BEGIN", isPrepared: false))
        try await holder.run(Statement("SELECT * FROM \(schema.name).state FOR UPDATE", isPrepared: false))
        let waiting = Task { try await store.put(number(1), for: key(0)) }
        // It has been cut at least once when the server has counted a transaction that was rolled back.
        try await Server.waitUntil("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted")
        try await Server.waitUntil("SELECT count(*) = 0 FROM pg_locks WHERE NOT granted")
        try await holder.run(Schema.rollback)
        _ = try await waiting.value
        #expect(number(in: try await store.get(key(0))) == 1)
        try await store.close()
      }
    }

    @Test func `a statement that takes longer than the role may is reported with the setting`() async throws {
      let error = StoreError(PostgresFailure.refused(state: "57014", message: "canceling statement"), operation: "read")
      #expect(error.code == .inputOutput && error.hint?.contains("statement_timeout") == true)
    }

    @Test func `a missing role or database is reported at once`() async throws {
      for (url, state) in [(Server.url(user: "nobody_here"), "28000"), (Server.url(database: "nowhere"), "3D000")] {
        let error = await #expect(throws: StoreError.self) { try await Server.open("x") { $0.url = url } }
        #expect(error?.code == .inputOutput && error?.message.contains(state) == true && error?.hint != nil)
      }
      let malformed = await #expect(throws: StoreError.self) { try await Server.open("x") { $0.url = "user==1 =" } }
      #expect(malformed?.message.contains("connection string") == true)
    }

    @Test func `a clock that is an hour ahead is put right by the server's from the first commit on`() async throws {
      let space = Server.newSpace()
      let here = StoreClock.system
      let ahead = StoreClock { StoreTime(wall: here.now.wall + 3_600_000_000, steady: here.now.steady) }
      let store = try await Server.open(space, clock: ahead, followsServer: true)
      let version = try await store.put([1], for: key(0))
      let server = try await Server.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
      #expect(abs(version.microseconds - (server[0].integer(0, 0) ?? 0)) < 60_000_000)
      try await store.close()
    }

    /// The server's clock is a function of a schema that precedes PostgreSQL's own in the search path.
    @Test func `a clock of the server that jumps ahead or back leaves the versions in order and within an hour`()
      async throws
    {
      let (space, clocks) = (Server.newSpace(), "clocks_\(UInt32.random(in: 0 ... .max))")
      for statement in [
        "CREATE SCHEMA \(clocks)", "CREATE TABLE \(clocks).lead AS SELECT interval '0' AS lead",
        """
        CREATE FUNCTION \(clocks).clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS \
        'SELECT pg_catalog.clock_timestamp() + lead FROM \(clocks).lead'
        """,
      ] { try await Server.run(statement) }
      let url = Server.url + "&options=-csearch_path%3D\(clocks)%2Cpg_catalog"
      var stores: [PostgresStore] = []
      for _ in 0..<2 { stores.append(try await Server.open(space, followsServer: true) { $0.url = url }) }
      var news = stores[1].commits.makeAsyncIterator()
      var (versions, heard): ([StoreVersion], [StoreVersion]) = ([], [])
      for lead in ["0", "1 hour", "-1 hour", "1 year", "-1 year", "0"] {
        try await Server.run("UPDATE \(clocks).lead SET lead = '\(lead)'")
        for round in 0..<12 {
          let version = try await stores[round % 2].put(number(round), for: key(round))
          versions.append(version)
          // The other reads the writes of the first, at a version that is not before it.
          let found = try await stores[1 - round % 2].read { (try await $0.get(key(round)), $0.version) }
          #expect(number(in: found.0) == round && found.1 >= version)
        }
      }
      while let last = versions.last, heard.last != last {
        guard let commit = await news.next() else { break }
        heard.append(commit)
      }
      #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
      #expect(heard == versions)
      // The hour was believed and is made up for at half speed; the year was not.
      let lead = (versions.last?.microseconds ?? 0) - StoreClock.system.now.wall
      #expect(lead > -60_000_000 && lead < 3_660_000_000)
      for store in stores { try await store.close() }
      try await Server.run("DROP SCHEMA \(clocks) CASCADE")
    }
  }
}
