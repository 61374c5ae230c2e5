import Foundation
import Testing
import VestaConcurrency
import VestaPostgresTesting
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Names that take their time, hosts that do not answer, and TLS.
  @Suite struct ConnectionTests {
    /// The server's URL with its host and other options.
    private func url(host: String, _ options: String) -> String {
      let port = Server.url.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
      return "postgresql://vesta@\(host):\(port)/postgres?\(options)"
    }

    @Test func `a result has its rows and no others, and tells null from an empty value`() async throws {
      let values = try await Server.run("SELECT v FROM (VALUES ('a'), (NULL), ('')) AS list (v)")[0]
      #expect(values.rows == [[[97]], [nil], [[]]] && values.affected == 3)
      #expect(try await Server.run("SELECT 1 WHERE false")[0].rows.isEmpty)
      let changed = try await Server.run("CREATE TEMPORARY TABLE three AS SELECT generate_series(1, 3)")[0]
      #expect(changed.rows.isEmpty && changed.affected == 3)
    }

    @Test func `readers one after the other use one connection`() async throws {
      let proxy = try PostgresProxy(to: Server.url)
      defer { proxy.close() }
      let store = try await Server.open(Server.newSpace()) { $0.url = proxy.url }
      // After the first one, the connection that has opened the store is closed.
      #expect(try await store.get(key(0)) == nil)
      let used = Locked<Set<Int>>([])
      proxy.rule { message in
        used.withLock { _ = $0.insert(message.connection) }
        return .pass
      }
      for _ in 0..<5 { #expect(try await store.get(key(0)) == nil) }
      #expect(used.withLock { $0.count } == 1)
      try await store.close()
    }

    @Test func `a name is looked up concurrently, and no caller without need of it waits`() async throws {
      let space = Server.newSpace()
      let (gate, isAsked) = (Gate(), Gate())
      let lookups = Locked(0)
      var options = PostgresOptions()
      options.url = url(host: "db.example", "sslmode=disable")
      options.patience = .seconds(60)
      let store = try await PostgresStore.open(
        named: "test", in: space, options: options, storeOptions: StoreOptions(), followsServer: false,
        lookup: { name in
          // The first connections are there before the names stop coming.
          let count = lookups.withLock { count in
            count += 1
            return count
          }
          if count > 2 {
            isAsked.open()
            _ = gate.passes()
          }
          return name == "db.example" ? ["127.0.0.1"] : []
        })
      try await store.put([1], for: key(0))
      // One connection commits; a reader needs another one, whose name is not answered.
      let reader = Task { try await store.get(key(0)) }
      await isAsked.wait()
      for round in 0..<3 { try await store.put(number(round), for: key(1)) }
      gate.open()
      #expect(try await reader.value == [1])
      try await store.close()
    }

    @Test func `a name without an address is reported, and the next host is used`() async throws {
      let space = Server.newSpace()
      let lookup: Connector.Lookup = { name in name == "second.example" ? ["127.0.0.1"] : [] }
      let open = { @Sendable (url: String) in
        var options = PostgresOptions()
        options.url = url
        options.patience = .milliseconds(500)
        return try await PostgresStore.open(
          named: "test", in: space, options: options, storeOptions: StoreOptions(), followsServer: false,
          lookup: lookup)
      }
      let error = await #expect(throws: StoreError.self) {
        try await open(url(host: "first.example", "sslmode=disable"))
      }
      #expect(error?.code == .inputOutput && error?.message.contains("first.example") == true)
      let port = url(host: "x", "").split(separator: ":").last?.prefix { $0.isNumber } ?? ""
      let store = try await open(
        "host=first.example,second.example port=\(port) user=vesta dbname=postgres sslmode=disable")
      try await store.put([1], for: key(0))
      try await store.close()
    }

    @Test func `a host that takes connections and says nothing is passed by`() async throws {
      let silent = try PostgresProxy(to: Server.url)
      defer { silent.close() }
      silent.rule { _ in .hold }
      let ports = [silent.url, Server.url].map { url in url.split(separator: ":").last?.prefix { $0.isNumber } ?? "" }
      var options = PostgresOptions()
      options.url =
        "host=127.0.0.1,127.0.0.1 port=\(ports[0]),\(ports[1]) user=vesta dbname=postgres sslmode=disable"
      options.patience = .milliseconds(400)
      let store = try await PostgresStore.open(
        named: "test", in: Server.newSpace(), options: options, storeOptions: StoreOptions(), followsServer: false)
      try await store.put([1], for: key(0))
      try await store.close()
    }

    @Test func `TLS is used where it is asked for, and a certificate without a trusted authority is refused`()
      async throws
    {
      let certificate = try #require(ProcessInfo.processInfo.environment["VESTA_POSTGRES_CERTIFICATE"])
      let lookup: Connector.Lookup = { _ in ["127.0.0.1"] }
      let open = { @Sendable (space: String, host: String, options: String) in
        var all = PostgresOptions()
        all.url = url(host: host, options)
        return try await PostgresStore.open(
          named: "test", in: space, options: all, storeOptions: StoreOptions(), followsServer: false, lookup: lookup)
      }
      let fine = [
        "sslmode=require&application_name=tls", "sslmode=verify-full&sslrootcert=\(certificate)&application_name=tls",
      ]
      for options in fine {
        let store = try await open(Server.newSpace(), "localhost", options)
        try await store.put([1], for: key(0))
        #expect(try await store.get(key(0)) == [1])
        let isCrypted = try await Server.run(
          """
          SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'tls'
          """)
        #expect(isCrypted[0].bytes(0, 0) == [1])
        try await store.close()
      }
      let refused = [
        // No authority vouches for it; and one vouches for it, under another name.
        ("localhost", "sslmode=verify-full&sslrootcert=/nowhere"),
        ("other.example", "sslmode=verify-full&sslrootcert=\(certificate)"),
      ]
      for (host, options) in refused {
        let error = await #expect(throws: StoreError.self) { try await open("x", host, options) }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("certificate") == true, "\(error?.message ?? "")")
      }
    }
  }
}
