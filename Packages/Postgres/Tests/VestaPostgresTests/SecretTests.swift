import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

/// The password is in no error, no description and no dump.
@Suite struct SecretTests {
  private static let strings = [
    "postgresql://app:se%cretPW@127.0.0.1:1/db", "postgresql://app:secretPW%@127.0.0.1:1/db",
    "postgresql://app:secretPW@[::1/db", "postgresql://app:[secretPW@127.0.0.1:1/db",
    "postgresql://app:secret@PW@127.0.0.1:1/db", "postgresql://app:@secretPW@127.0.0.1:1/db",
    "postgresql://app:secret/PW@127.0.0.1:1/db", "postgresql://app:/secretPW@127.0.0.1:1/db",
    "postgresql://app:secret?PW@127.0.0.1:1/db", "postgresql://app:secretPW?a=b@127.0.0.1:1/db",
    "postgresql://app:secret#PW@127.0.0.1:1/db", "postgresql://app:secret PW@127.0.0.1:1/db",
    "postgresql://app:secret:PW@127.0.0.1:1/db", "postgresql://127.0.0.1:secretPW/db",
    "postgresql://app:secretPW@127.0.0.1:1/db?nonsense=1", "postgresql://app:secretPW@127.0.0.1:1/db",
    "postgresql://app@127.0.0.1:1/db?password=secretPW", "postgres://app:sec%00retPW@127.0.0.1:1/db",
    "host=127.0.0.1 port=1 password=my secretPW", "host=127.0.0.1 port=1 password=my secret=PW",
    "host=127.0.0.1 port=1 password='secretPW", "host=127.0.0.1 port=1 password=secretPW", "secretPW",
    "host=127.0.0.1 port=secretPW", "host=secret@PW port=1",
  ]

  private func expectNoSecret(_ text: String, _ what: String) {
    for part in ["secret", "PW", "cretPW", "retPW"] { #expect(!text.contains(part), "\(what): \(text)") }
  }

  @Test(arguments: strings)
  func `opening a store fails without a part of the connection string`(url: String) async {
    var options = PostgresOptions()
    (options.url, options.patience) = (url, .milliseconds(300))
    let provider = PostgresStoreProvider(options: options)
    let error = await #expect(throws: StoreError.self) {
      try await provider.openStore(named: "test", in: "here", options: StoreOptions())
    }
    guard let error else { return }
    var dumped = ""
    dump(error, to: &dumped)
    expectNoSecret("\(error) \(error.message) \(error.hint ?? "") \(dumped)", url)
  }

  @Test(arguments: strings + ["with an option"])
  func `what holds the options prints none of it`(url: String) throws {
    var options = PostgresOptions()
    options.url = url
    options.password = "secretPW"
    let provider = PostgresStoreProvider(options: options)
    // The host is named, whatever else was written there.
    guard !url.contains("host=secret") else { return }
    for value in [options as Any, provider as Any, [options] as Any, Optional(options) as Any] {
      var dumped = ""
      dump(value, to: &dumped)
      expectNoSecret("\(value) \(String(reflecting: value)) \(dumped)", url)
    }
    if let connector = try? Connector(url, password: "secretPW") {
      var dumped = ""
      dump(connector, to: &dumped)
      expectNoSecret(dumped, url)
    }
  }

  @Test func `the words say which characters to write otherwise, and a right string is read`() throws {
    for url in ["postgresql://app:se%cretPW@h/db", "postgresql://app:secret@PW@h/db", "postgresql://app:se/cret@h/db"] {
      do throws(PostgresFailure) {
        _ = try ConnectionString.options(of: url)
        Issue.record("\(url) was read")
      } catch {
        guard case .malformed(let text) = error else { continue }
        #expect(text.contains("%40"))
      }
    }
    let options = try ConnectionString.options(of: "postgresql://app:s%40%2F%3F%25@h:1,g:2/db?application_name=a@b")
    #expect(options["password"] == "s@/?%" && options["host"] == "h,g" && options["application_name"] == "a@b")
    #expect("\(PostgresOptions())".contains("VESTA_POSTGRES_URL"))
  }
}
