import Testing
import VestaBytes
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaInstallationsService

@Suite(.timeLimit(.minutes(10))) struct EngineTests {
  private func engine(
    _ store: any OrderedStore = ModelStore(), _ clock: ManualClock = ManualClock(), tokens: Int = 8
  ) -> InstallationsEngine {
    var options = InstallationsServiceOptions(clock: clock.service)
    options.tuning.maximumTokens = tokens
    return InstallationsEngine(options: options) { store }
  }

  @Test(arguments: InstallationsContracts.all)
  func `the engine keeps its contract`(contract: Contract<InstallationsSubject>) async throws {
    let clock = ManualClock()
    let engine = engine(ModelStore(), clock)
    try await contract.verify(InstallationsSubject(engine) { clock.advance(by: $0) })
    try await engine.close()
  }

  @Test func `a second engine on the same store knows the installations of the first`() async throws {
    let store = ModelStore()
    let made = try await engine(store).create(CreateInstallationRequest(appID: "a"), context: CallContext())
    let other = engine(store)
    #expect(try await other.verify(token: made.token.text, context: CallContext()).id == made.id)
    _ = try await other.generateToken(id: made.id, refreshToken: made.refreshToken, context: CallContext())
  }

  @Test func `of many tokens the newest are valid, and the row stays small`() async throws {
    let store = ModelStore()
    let engine = engine(store, tokens: 2)
    let made = try await engine.create(CreateInstallationRequest(appID: "a"), context: CallContext())
    var texts = [made.token.text]
    for _ in 0..<5 {
      let token = try await engine.generateToken(
        id: made.id, refreshToken: made.refreshToken, context: CallContext())
      texts.append(token.text)
    }
    for (index, text) in texts.enumerated() {
      let isValid = (try? await engine.verify(token: text, context: CallContext())) != nil
      #expect(isValid == (index >= 4), "token \(index)")
    }
    let row = try await store.read { try await $0.get(InstallationRows.key(made.id)) }
    #expect((row?.count ?? 0) < 200)
  }

  @Test func `secrets are in no row`() async throws {
    let store = ModelStore()
    let made = try await engine(store).create(CreateInstallationRequest(appID: "a"), context: CallContext())
    let row = try await store.read { try await $0.get(InstallationRows.key(made.id)) } ?? []
    let text = String(decoding: row, as: UTF8.self)
    for secret in [made.refreshToken, made.token.text] {
      #expect(!text.contains(secret.split(separator: ".")[1]))
    }
  }

  @Test func `a damaged row is no reason to throw the installation away`() async throws {
    let store = ModelStore()
    let engine = engine(store)
    let made = try await engine.create(CreateInstallationRequest(appID: "a"), context: CallContext())
    _ = try await store.write { try await $0.put([255], for: InstallationRows.key(made.id)) }
    let error = await #expect(throws: InstallationsServiceError.self) {
      try await engine.verify(token: made.token.text, context: CallContext())
    }
    // Clients make a new installation after UNAUTHENTICATED and NOT_FOUND, and try again after this.
    #expect(error?.code == .dataLoss)
  }

  @Test func `an app is named by every installation`() async throws {
    for appID in ["", String(repeating: "a", count: 257)] {
      let error = await #expect(throws: InstallationsServiceError.self) {
        try await engine().create(CreateInstallationRequest(appID: appID), context: CallContext())
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `ids that are made have the form of ids`() {
    let ids = Set((0..<1_000).map { _ in SystemRandom.installationID() })
    #expect(ids.count == 1_000 && ids.allSatisfy(InstallationID.isValid))
  }
}
