import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaCrypto
import VestaCryptoInterop
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreService
import VestaPostgres
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

/// The server of `Scripts/with-postgres`; no existing database is touched.
let server: String? = {
  let environment = ProcessInfo.processInfo.environment
  return environment["VESTA_POSTGRES_CONTROL"] == nil ? nil : environment["VESTA_POSTGRES_URL"]
}()

/// The tests share a server, whose connections are fewer than they would open together: one at a time.
@Suite(.serialized, .enabled(if: server != nil, "run this package's tests by Scripts/test"))
enum OnOneServer {}

extension OnOneServer {
  @Suite struct EnginesOnPostgresTests {
    /// A store as one more process opens it.
    @Sendable private static func open(_ name: String, in space: String) async throws -> any OrderedStore {
      var options = PostgresOptions()
      options.url = server
      options.connections = 4
      return try await PostgresStoreProvider(options: options)
        .openStore(named: name, in: space, options: StoreOptions())
    }

    @Test(arguments: FirestoreContracts.all)
    func `two document engines on two stores keep the promise`(_ contract: Contract<FirestoreSubject>) async throws {
      let space = UUID().uuidString
      var engines: [FirestoreEngine] = []
      for _ in 0..<2 { engines.append(FirestoreEngine(store: try await Self.open("firestore", in: space))) }
      let all = engines
      let spread = SpreadBackend(all, seed: 5) { all[$0].serves(transaction: $1) }
      for outcome in await [contract].run(against: { FirestoreSubject(spread) }) {
        #expect(outcome.isKept, "\(outcome)")
      }
      for engine in engines { try await engine.close() }
    }

    private func authEngine(in space: String, _ sender: RecordingCodeSender) -> AuthEngine {
      var options = AuthServiceOptions()
      options.passwordScheme = .pbkdf2(.sha256, iterations: 1)
      options.codeSender = sender
      return AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) {
        try await Self.open("auth", in: space)
      }
    }

    @Test(arguments: AuthContracts.all)
    func `the engine of Auth keeps the promise`(_ contract: Contract<AuthSubject>) async throws {
      let sender = RecordingCodeSender()
      let engine = authEngine(in: UUID().uuidString, sender)
      let subject = AuthSubject(
        engine,
        emailedCode: { type, recipient in
          try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
        },
        textedCode: { session in try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code })
      for outcome in await [contract].run(against: { subject }) { #expect(outcome.isKept, "\(outcome)") }
      try await engine.close()
    }

    @Test func `an address that is signed up in two processes at once is one account's, and known to both`()
      async throws
    {
      let (space, context) = (UUID().uuidString, CallContext())
      let engines = [authEngine(in: space, RecordingCodeSender()), authEngine(in: space, RecordingCodeSender())]
      let signUp = SignUpRequest(email: "ada@example.com", password: "correct horse")
      let made = await withTaskGroup(of: Bool.self) { group in
        for index in 0..<8 {
          group.addTask { (try? await engines[index % 2].signUp(signUp, context: context)) != nil }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(made == 1)
      var accounts: Set<String> = []
      for engine in engines {
        let request = PasswordSignInRequest(email: "ada@example.com", password: "correct horse")
        let signedIn = try await engine.signInWithPassword(request, context: context)
        accounts.insert(signedIn.localID)
        let tokens = try #require(signedIn.outcome.tokens)
        // A token of one is good in the other.
        for other in engines {
          let users = try await other.lookup(LookupRequest(idToken: tokens.idToken), context: context).users
          #expect(users.map(\.localID) == [signedIn.localID])
        }
      }
      #expect(accounts.count == 1)
      for engine in engines { try await engine.close() }
    }
  }
}
