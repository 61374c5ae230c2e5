import Testing

@testable import VestaPostgres

/// Where a connection string leads, without a server.
@Suite struct ConnectionPlanTests {
  private func plan(_ url: String, _ environment: [String: String] = [:]) throws -> ConnectionPlan {
    ConnectionPlan(try ConnectionString.options(of: url)) { environment[$0] }
  }

  @Test func `each host is a separate attempt, with its port and its address`() throws {
    let several = try plan("postgresql://u@one:1,two:2,[::1]:3/db?connect_timeout=7")
    #expect(several.targets.map(\.host) == ["one", "two", "::1"])
    #expect(several.targets.map(\.port) == ["1", "2", "3"])
    #expect(several.targets.map(\.needsLookup) == [true, true, false])
    #expect(several.timeout == 7)
    let given = try plan("host=db.example.com hostaddr=10.0.0.7 port=6000")
    #expect(given.targets == [ConnectionTarget(host: "db.example.com", address: "10.0.0.7", port: "6000")])
    #expect(!given.targets[0].needsLookup)
    let shared = try plan("host=one,two port=6000")
    #expect(shared.targets.map(\.port) == ["6000", "6000"])
  }

  @Test func `an empty part of a list of hosts or ports stands for the default`() throws {
    #expect(
      try plan("host=,two port=1,").targets == [ConnectionTarget(port: "1"), ConnectionTarget(host: "two")])
  }

  @Test func `a timeout that is no number of seconds is the usual one`() throws {
    for (value, timeout) in [("1", 1), ("0", nil), ("-1", nil), ("", nil)] as [(String, Int?)] {
      #expect(try plan("host=one connect_timeout='\(value)'").timeout == timeout)
    }
    #expect(try plan("host=one", ["PGCONNECT_TIMEOUT": "9"]).timeout == 9)
  }

  @Test func `the system finds an address of this machine, and names each once`() {
    let addresses = PlatformNames.addresses(of: "localhost")
    #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
    #expect(Set(addresses).count == addresses.count)
  }

  @Test func `what has no name is not looked up`() throws {
    for url in [
      "postgresql:///db?host=/var/run/postgresql", "host=127.0.0.1", "host=::1", "host=@abstract", "dbname=x",
    ] {
      #expect(try plan(url).targets.allSatisfy { !$0.needsLookup }, "\(url)")
    }
  }

  @Test func `the environment counts where the string is silent, and a service file is left to libpq`() throws {
    #expect(try plan("dbname=x", ["PGHOST": "db", "PGPORT": "7"]).targets == [ConnectionTarget(host: "db", port: "7")])
    #expect(try plan("host=one", ["PGHOST": "db"]).targets.map(\.host) == ["one"])
    for (url, environment) in [("service=prod host=one", [:]), ("host=one", ["PGSERVICE": "prod"])] {
      #expect(try plan(url, environment).targets == [ConnectionTarget()])
    }
    // Libpq says what is wrong with these.
    #expect(try plan("host=a,b,c port=1,2").targets == [ConnectionTarget()])
  }

  @Test func `a standby is preferred among all hosts`() throws {
    let targets = try plan("postgresql://a,b/db?target_session_attrs=prefer-standby").targets
    #expect(targets.map(\.host) == ["a", "b", "a", "b"])
    #expect(targets.map(\.session) == ["standby", "standby", "any", "any"])
    #expect(try plan("postgresql://a,b/db?target_session_attrs=read-write").targets.map(\.session) == [nil, nil])
  }

  @Test func `a string that cannot be read is refused`() {
    for url in ["postgresql://[a", "host", "hots=x", "postgresql://a/?nonsense=1"] {
      #expect(throws: PostgresFailure.self) { try ConnectionString.options(of: url) }
    }
  }

  @Test func `a refused connection has the server's code`() {
    let text = """
      connection to server at "127.0.0.1", port 5432 failed: FATAL:  53300: sorry, too many clients already
      LOCATION:  InitProcess, proc.c:351
      """
    let full = PostgresFailure(connecting: text)
    #expect(full == .refused(state: "53300", message: "sorry, too many clients already"))
    #expect(full.isPassing && full.allowsAnotherHost)
    let unknown = PostgresFailure(connecting: "FATAL:  28000: role \"x\" does not exist")
    #expect(!unknown.isPassing && !unknown.allowsAnotherHost)
    #expect(PostgresFailure(connecting: "connection refused\n\tIs the server running?").isPassing)
    let last = PostgresFailure(connecting: "FATAL:  0Z002: stacked diagnostics")
    #expect(last == .refused(state: "0Z002", message: "stacked diagnostics"))
    for odd in ["", ":  ", "a:  b", "FATAL:  1234", "FATAL:  12345", "FATAL:  12a45: x"] {
      #expect(PostgresFailure(connecting: odd).isUncertain)
    }
  }

  @Test func `a reading of the server's clock says only what it can`() {
    // Read at an unknown time between two readings of the own clock, so a long wait makes it worthless.
    #expect(CommitLedger.offset(of: 150, between: 100, and: 200) == 0)
    #expect(CommitLedger.offset(of: 90, between: 100, and: 200) == -10)
    #expect(CommitLedger.offset(of: 10_000_200, between: 100, and: 200) == 10_000_000)
  }
}
