import Testing
import VestaAppCheckBackend
import VestaAppCheckBackendContracts
import VestaAppCheckService
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

/// The engine of App Check with keys that sign.
@Suite(.timeLimit(.minutes(5))) struct AppCheckTests {
  private static let secret = "11111111-2222-4333-8444-555555555555"
  private let clock = ManualClock()
  private let crypto = rsaKeys.provider()

  private func engine(
    _ store: ModelStore = ModelStore(), project: String = "demo", _ options: AppCheckServiceOptions? = nil
  ) -> AppCheckEngine {
    let usual = AppCheckServiceOptions(clock: clock.service)
    return AppCheckEngine(projectID: project, projectNumber: "7", crypto: crypto, options: options ?? usual) { store }
  }

  private func token(_ engine: AppCheckEngine) async throws -> String {
    try await engine.addDebugSecret(Self.secret, appID: "1:7:web:3", context: .owner)
    return try await engine.exchange(.debug(Self.secret), appID: "1:7:web:3", context: CallContext()).text
  }

  @Test(arguments: AppCheckContracts.all)
  func `the engine keeps its contract`(contract: Contract<AppCheckSubject>) async throws {
    let engine = engine()
    try await contract.verify(AppCheckSubject(engine) { clock.advance(by: $0) })
    try await engine.close()
  }

  @Test func `a token of another project is refused, and one of another process is verified`() async throws {
    let store = ModelStore()
    let text = try await token(engine(store))
    _ = try await engine(store).verify(token: text, consumes: false, context: CallContext())
    for other in [engine(project: "demo"), engine(store, project: "other")] {
      let error = await #expect(throws: AppCheckServiceError.self) {
        try await other.verify(token: text, consumes: false, context: CallContext())
      }
      #expect(error?.code == .unauthenticated)
    }
  }

  @Test func `after a key was replaced its tokens are verified on, in every process`() async throws {
    let store = ModelStore()
    var options = AppCheckServiceOptions(clock: clock.service)
    options.signingKeyLifetime = .seconds(3_600)
    let (one, two) = (engine(store, options), engine(store, options))
    clock.advance(by: .seconds(1))
    _ = try await token(one)
    clock.advance(by: .seconds(3_500))
    let old = try await token(one)
    _ = try await two.verify(token: old, consumes: false, context: CallContext())
    clock.advance(by: .seconds(200))
    let new = try await token(one)
    for text in [old, new] { _ = try await two.verify(token: text, consumes: false, context: CallContext()) }
    #expect(try await one.keys(context: CallContext())["keys"]?.array?.count == 2)
  }

  @Test func `a custom token counts by the owner's key, for its app and until its end`() async throws {
    let (key, foreign) = (try await crypto.generateSigningKey(.rs256), try await crypto.generateSigningKey(.rs256))
    let options = AppCheckServiceOptions(customKeys: [key.verificationKey], clock: clock.service)
    let engine = engine(ModelStore(), options)
    let audience = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"
    let now = clock.service.now() / 1_000_000
    func custom(_ key: any SigningKey, app: String = "1:7:web:3", end: Int64 = 300) throws -> AppCheckProof {
      .custom(
        try JWT.sign(
          ["app_id": .string(app), "aud": .string(audience), "iat": .integer(now), "exp": .integer(now + end)],
          with: key))
    }
    _ = try await engine.exchange(try custom(key), appID: "1:7:web:3", context: CallContext())
    for wrong in [try custom(foreign), try custom(key, app: "1:7:web:4"), try custom(key, end: -1)] {
      let error = await #expect(throws: AppCheckServiceError.self) {
        try await engine.exchange(wrong, appID: "1:7:web:3", context: CallContext())
      }
      #expect(error?.code == .permissionDenied)
    }
  }
}
