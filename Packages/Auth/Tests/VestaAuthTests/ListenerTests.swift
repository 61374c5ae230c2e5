import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaAuth

@Suite struct ListenerTests {
  @Test func `a listener receives the current state and then each change`() async throws {
    let test = try TestAuth()
    let log = Log<String?>()
    let handle = test.auth.addStateDidChangeListener { auth, user in
      #expect(auth === test.auth && TestAuth.isOnCallbackQueue)
      log.add(user?.uid)
    }
    let ada = try await test.signIn("ada@example.com")
    let grace = try await test.signIn("grace@example.com")
    try test.auth.signOut()
    let heard = await log.wait(for: 4)
    #expect(heard == [nil, ada.uid, grace.uid, nil])
    test.auth.removeStateDidChangeListener(handle)
    try await test.signIn()
    await test.settle()
    #expect(log.entries.count == 4 && test.auth.userChanges.count == 0)
  }

  @Test func `the first call follows the adding of the listener`() async throws {
    let test = try TestAuth()
    let order = Log<String>()
    let gate = DispatchSemaphore(value: 0)
    test.auth.listenerQueue.async { gate.wait() }
    _ = test.auth.addStateDidChangeListener { _, _ in order.add("called") }
    order.add("added")
    gate.signal()
    let events = await order.wait(for: 2)
    #expect(events == ["added", "called"])
  }

  @Test func `a new token is sent to token listeners only`() async throws {
    let test = try TestAuth()
    let user = try await test.signIn()
    let (states, tokens) = (Log<String?>(), Log<String?>())
    _ = test.auth.addStateDidChangeListener { _, user in states.add(user?.uid) }
    let handle = test.auth.addIDTokenDidChangeListener { _, user in tokens.add(user?.uid) }
    _ = try await user.getIDToken(forcingRefresh: true)
    try await test.signIn()
    await test.settle()
    #expect(states.entries == [user.uid] && tokens.entries == [user.uid, user.uid, user.uid])
    test.auth.removeIDTokenDidChangeListener(handle)
    _ = try await user.getIDToken(forcingRefresh: true)
    await test.settle()
    #expect(tokens.entries.count == 3)
  }

  @Test func `listeners are called in the order of their addition`() async throws {
    let test = try TestAuth()
    let log = Log<Int>()
    for number in 0..<8 { _ = test.auth.addStateDidChangeListener { _, _ in log.add(number) } }
    await test.settle()
    try await test.signIn()
    await test.settle()
    #expect(log.entries == Array(0..<8) + Array(0..<8))
  }

  @Test func `a listener may call everything`() async throws {
    let test = try TestAuth()
    let log = Log<String?>()
    let handle = Locked<(any NSObjectProtocol & Sendable)?>(nil)
    let added = test.auth.addStateDidChangeListener { auth, user in
      _ = auth.currentUser?.email
      auth.languageCode = "de"
      _ = auth.addIDTokenDidChangeListener { _, _ in }
      if user != nil {
        try? auth.signOut()
        if let handle = handle.withLock({ $0 }) { auth.removeStateDidChangeListener(handle) }
      }
      log.add(user?.uid)
    }
    handle.withLock { $0 = added }
    let user = try await test.signIn()
    let heard = await log.wait(for: 2)
    await test.settle()
    #expect(heard == [nil, user.uid] && log.entries.count == 2 && test.auth.currentUser == nil)
  }

  @Test func `notifications are posted`() async throws {
    let test = try TestAuth()
    let log = Log<Bool>()
    let auth = test.auth
    let observer = NotificationCenter.default.addObserver(
      forName: .AuthStateDidChange, object: nil, queue: nil
    ) { notification in
      if notification.object as? Auth === auth { log.add(TestAuth.isOnCallbackQueue) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let user = try await test.signIn()
    _ = try await user.getIDToken(forcingRefresh: true)
    try test.auth.signOut()
    let heard = await log.wait(for: 3)
    #expect(heard == [true, true, true])
    #expect(Auth.authStateDidChangeNotification.rawValue == "FIRAuthStateDidChangeNotification")
  }

  @Test func `an object that a listener captured may call Auth when it is released`() async throws {
    final class Screen: Sendable {
      let auth: Auth
      let gone: Log<Bool>
      init(_ auth: Auth, _ gone: Log<Bool>) { (self.auth, self.gone) = (auth, gone) }
      deinit {
        _ = auth.currentUser
        gone.add(true)
      }
    }
    let test = try TestAuth()
    let gone = Log<Bool>()
    for _ in 0..<50 {
      let screen = Screen(test.auth, gone)
      let handle = test.auth.addStateDidChangeListener { _, _ in _ = screen.auth }
      test.auth.signInAnonymously { _, _ in _ = screen.auth }
      Task { test.auth.removeStateDidChangeListener(handle) }
    }
    _ = await gone.wait(for: 50)
    let screen = Screen(test.auth, gone)
    _ = test.auth.addStateDidChangeListener { _, _ in _ = screen.auth }
    await test.auth.appWillBeDeleted(test.app)
    await test.settle()
    #expect(gone.entries.count == 50, "the last one is still held here")
    withExtendedLifetime(screen) {}
  }
}
