import Foundation
import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaCore
import VestaCredentialInterop
import VestaCredentialInteropFakes
import VestaTesting

@testable import VestaAuth

@Suite struct PersistenceTests {
  /// The same app in the next run of the program.
  func restart(_ test: TestAuth) async throws -> TestAuth {
    await test.app.delete()
    return try TestAuth(store: test.store, backend: test.backend, appName: test.app.name)
  }

  @Test func `a user is still signed in after a restart`() async throws {
    let first = try TestAuth()
    let ada = try await first.signIn()
    let request = ada.createProfileChangeRequest()
    request.displayName = "Ada"
    try await request.commitChanges()
    let token = try await ada.getIDToken(forcingRefresh: true)
    let second = try await restart(first)
    let user = try #require(second.auth.currentUser)
    #expect(user.uid == ada.uid && user.displayName == "Ada" && user.providerData.count == 1)
    let same = try await user.getIDToken()
    #expect(same == token)
    _ = try await user.getIDToken(forcingRefresh: true)
    #expect(second.clock.alarms == [second.clock.date + 3300])
  }

  @Test func `a user who signed out is not back after a restart`() async throws {
    let first = try TestAuth()
    try await first.signIn()
    try first.auth.signOut()
    let second = try await restart(first)
    #expect(second.auth.currentUser == nil)
  }

  @Test func `nothing is read before it is needed`() async throws {
    let test = try TestAuth()
    #expect(test.store.loads == 0)
    _ = test.auth.currentUser
    _ = test.auth.currentUser
    #expect(test.store.loads == 1)
  }

  @Test func `a store that sleeps signs no user out`() async throws {
    let first = try TestAuth()
    let ada = try await first.signIn()
    let second = try await restart(first)
    second.store.setFailsToRead(true)
    let log = Log<String?>()
    _ = second.auth.addStateDidChangeListener { _, user in log.add(user?.uid) }
    #expect(second.auth.currentUser == nil)
    let error = #expect(throws: AuthError.self) { try second.auth.loadCurrentUser() }
    #expect(error?.code == .keychainError)
    second.store.setFailsToRead(false)
    let user = try second.auth.loadCurrentUser()
    #expect(user?.uid == ada.uid && second.auth.currentUser === user)
    let heard = await log.wait(for: 2)
    #expect(heard == [nil, ada.uid])
  }

  @Test func `a store that sleeps is logged once`() async throws {
    struct Sink: LogSink {
      let name: String
      let lines = Log<String>()
      func write(_ entry: LogEntry) {
        if entry.code == "I-AUT000001", entry.message.contains(name) { lines.add(entry.message) }
      }
    }
    let test = try TestAuth()
    let sink = Sink(name: test.app.name)
    VestaConfiguration.shared.setLogSink(sink)
    defer { VestaConfiguration.shared.setLogSink(StandardErrorSink()) }
    test.store.setFailsToRead(true)
    for _ in 1...3 { #expect(test.auth.currentUser == nil) }
    #expect(sink.lines.entries.count == 1)
  }

  @Test func `a sign-out while the store sleeps counts`() async throws {
    let first = try TestAuth()
    try await first.signIn()
    let second = try await restart(first)
    second.store.setFailsToRead(true)
    second.store.setFailsToWrite(true)
    #expect(throws: AuthError.self) { try second.auth.signOut() }
    second.store.setFailsToRead(false)
    second.store.setFailsToWrite(false)
    #expect(second.auth.currentUser == nil)
    let third = try await restart(second)
    #expect(third.auth.currentUser == nil)
  }

  @Test func `a session that could not be kept is kept later`() async throws {
    let first = try TestAuth()
    first.store.setFailsToWrite(true)
    let ada = try await first.signIn()
    #expect(first.auth.currentUser === ada)
    first.store.setFailsToWrite(false)
    #expect(first.auth.currentUser === ada)
    let second = try await restart(first)
    #expect(second.auth.currentUser?.uid == ada.uid)
  }

  @Test func `a session that makes no sense is kept aside`() async throws {
    let test = try TestAuth()
    try test.store.save(Array("nonsense".utf8), for: "auth-\(test.app.name)")
    #expect(test.auth.currentUser == nil)
    let aside = try test.store.load("auth-\(test.app.name).aside-1")
    #expect(aside == Array("nonsense".utf8))
    try await test.signIn()
    #expect(test.auth.currentUser != nil)
  }

  @Test func `apps keep their users apart`() async throws {
    let store = FakeCredentialStore()
    let (one, other) = (try TestAuth(store: store), try TestAuth(store: store))
    let ada = try await one.signIn("ada@example.com")
    let grace = try await other.signIn("grace@example.com")
    let nextOne = try await restart(one)
    let nextOther = try await restart(other)
    #expect(nextOne.auth.currentUser?.uid == ada.uid && nextOther.auth.currentUser?.email == grace.email)
    try nextOne.auth.signOut()
    #expect(nextOther.auth.currentUser != nil)
  }

  @Test func `an expired token is refreshed after a restart`() async throws {
    let first = try TestAuth()
    first.backend.state.withLock { $0.lifetime = -10 }
    try await first.signIn()
    let second = try await restart(first)
    second.backend.state.withLock { $0.lifetime = 3600 }
    _ = try await second.auth.currentUser?.getIDToken()
    #expect(second.backend.count(of: "refresh") == 1)
  }
}
