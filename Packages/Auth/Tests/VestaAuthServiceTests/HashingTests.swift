import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The cost of comparing a password, and who bears it.
@Suite struct HashingTests {
  @Test func `a wrong guess at an imported account with a cheap hash costs what one at no account costs`() async throws
  {
    let world = World()
    let cheap = try await world.crypto.hashPassword("pw", scheme: .pbkdf2(.sha1, iterations: 1), signerKey: nil)
    let user = ImportedUser(localID: "a", email: "ada@example.com", passwordHash: Array(cheap.text.utf8))
    let answer = try await world.engine.administration.batchCreate(
      BatchCreateRequest(users: [user], hash: .text), context: .owner)
    #expect(answer.errors.isEmpty)
    func standardWork(_ email: String) async -> Int {
      let before = world.crypto.work(of: world.options.passwordScheme)
      #expect(await refusal { try await world.signIn(email, "guess") } == .invalidLoginCredentials)
      return world.crypto.work(of: world.options.passwordScheme) - before
    }
    #expect(await standardWork("nobody@example.com") == 1)
    #expect(await standardWork("ada@example.com") == 1)
  }

  @Test func `a password that is too long is refused before the account is looked for`() async throws {
    let world = World()
    try await world.signUp()
    let long = String(repeating: "x", count: Checks.longestPassword + 1)
    let before = world.crypto.passwordWork
    for email in ["ada@example.com", "nobody@example.com"] {
      #expect(await refusal { try await world.signIn(email, long) } == .invalidLoginCredentials)
    }
    #expect(world.crypto.passwordWork == before)
  }

  @Test func `a caller who guesses without end holds up himself`() async throws {
    let queue = HashingQueue(waiting: 100, perCaller: 50, running: 1)
    let (order, gate) = (Log<String>(), Gate())
    let first = Task { try await queue.run(for: "attacker") { await gate.wait() } }
    while queue.runningCount == 0 { await Task.yield() }
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<49 {
      tasks.append(Task { try await queue.run(for: "attacker") { order.add("attacker") } })
      while queue.waitingCount < number + 1 { await Task.yield() }
    }
    // The line is full: one more is refused at once.
    let refused = await #expect(throws: AuthServiceError.self) { try await queue.run(for: "attacker") {} }
    #expect(refused?.code == .tooManyAttempts)
    tasks.append(Task { try await queue.run(for: "good") { order.add("good") } })
    while queue.waitingCount < 50 { await Task.yield() }
    gate.open()
    for task in tasks { try await task.value }
    try await first.value
    #expect(order.entries.firstIndex(of: "good") ?? 99 <= 1)
    #expect(order.entries.count == 50)
    try await queue.run(for: "attacker") {}
  }

  @Test func `all callers together have a bound, and who leaves makes room`() async throws {
    let queue = HashingQueue(waiting: 10, perCaller: 10, running: 1)
    let gate = Gate()
    let tasks = (0..<10).map { number in
      Task { try await queue.run(for: "caller \(number)") { await gate.wait() } }
    }
    while queue.waitingCount + queue.runningCount < 10 { await Task.yield() }
    await #expect(throws: AuthServiceError.self) { try await queue.run(for: "one more") {} }
    tasks[9].cancel()
    _ = await tasks[9].result
    gate.open()
    try await queue.run(for: "one more") {}
    for task in tasks.dropLast() { try await task.value }
  }
}
