import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// Settings that change while the password of an account is hashed: between the check of a change and its commit.
@Suite struct ChangeRaceTests {
  /// Asks for a change of an account, during which an owner changes the settings of the project.
  private func outcome(
    of change: UpdateRequest, during members: Set<ProjectConfig.Member>, _ set: (inout ProjectConfig) -> Void
  ) async throws -> AuthServiceError.Code? {
    try await outcome(during: members, set) { world, idToken in
      var change = change
      change.idToken = idToken
      _ = try await world.engine.update(change, context: world.context)
    }
  }

  /// Does something with the ID token of a new account, during which an owner changes the settings of the project.
  private func outcome(
    during members: Set<ProjectConfig.Member>, _ set: (inout ProjectConfig) -> Void,
    of change: (World, _ idToken: String) async throws -> Void
  ) async throws -> AuthServiceError.Code? {
    let base = ModelStore()
    let store = HookedStore(base, closesBase: false)
    func showsEmails(_ options: inout AuthServiceOptions) { options.initialConfig.hidesEmails = false }
    let world = World(store: store, configure: showsEmails)
    let made = try await world.signUp()
    // Another engine on the store: the hook does not see its writes.
    let owner = World(store: base, at: world.now, configure: showsEmails).engine.administration
    var config = try await owner.projectConfig(context: .owner)
    set(&config)
    let settings = ProjectConfigChange(config, members: members)
    let isDone = Locked(false)
    store.hook { step in
      guard step == .write, !isDone.withLock({ $0 }) else { return }
      isDone.withLock { $0 = true }
      _ = try await owner.updateProjectConfig(settings, context: .owner)
    }
    return await refusal { try await change(world, made.tokens.idToken) }
  }

  @Test func `a change that the settings no longer allow is refused at its commit`() async throws {
    let password = UpdateRequest(password: "another horse")
    let allowsPasswords = ProjectConfig.Member.signIn(.allowsPasswords)
    #expect(try await outcome(of: password, during: [allowsPasswords]) { _ in } == nil)
    #expect(
      try await outcome(of: password, during: [allowsPasswords]) { $0.signIn.allowsPasswords = false }
        == .operationNotAllowed)
    let email = UpdateRequest(email: "other@example.com")
    #expect(try await outcome(of: email, during: [.hidesEmails]) { _ in } == nil)
    #expect(try await outcome(of: email, during: [.hidesEmails]) { $0.hidesEmails = true } == .operationNotAllowed)
  }

  @Test func `a new account or link with a password that is no longer allowed is refused at its commit`() async throws {
    let allowsPasswords = ProjectConfig.Member.signIn(.allowsPasswords)
    for isLink in [false, true] {
      func addPassword(_ world: World, _ idToken: String) async throws {
        // A new account needs another address: the one of the first account would be refused.
        let email = isLink ? "ada@example.com" : "new@example.com"
        _ = try await world.engine.signUp(
          SignUpRequest(email: email, password: "another horse", idToken: isLink ? idToken : nil),
          context: world.context)
      }
      #expect(try await outcome(during: [allowsPasswords], { _ in }, of: addPassword) == nil)
      let refused = try await outcome(
        during: [allowsPasswords], { $0.signIn.allowsPasswords = false }, of: addPassword)
      #expect(refused == .operationNotAllowed)
    }
  }
}
