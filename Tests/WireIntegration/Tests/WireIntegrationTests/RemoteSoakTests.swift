import Foundation
import Testing
import VestaAuth
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaDatabase
import VestaFirestore
import VestaInstallationsBackend
import VestaMessaging
import VestaMessagingBackend
import VestaServiceInterop
import VestaStorage
import VestaTesting
import VestaTransportInteropFakes

/// A program with all products and the program `vesta`, with a network in between that has every fault.
///
/// 12 seconds of faults; 10 minutes with `VESTA_SOAK=1`, and half-open connections then, which clients notice after a
/// minute or two. `VESTA_SEED` repeats the faults of a run.
@Suite(.serialized, .timeLimit(.minutes(30))) struct RemoteSoakTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let isLong = environment["VESTA_SOAK"] == "1"
  private static let length: Duration = isLong ? .seconds(600) : .seconds(12)
  private let seed = Self.environment["VESTA_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))

  private static let page = "<html>Welcome to the train</html>"

  private static func answer(_ status: String, _ fields: String = "") -> FaultyNetwork.Weather {
    .answers(
      "HTTP/1.1 \(status)\r\ncontent-type: text/html\r\n\(fields)content-length: \(page.utf8.count)\r\n\r\n\(page)")
  }

  /// One fault after the other, each for up to a second.
  private func storm(on network: FaultyNetwork, _ faults: Log<String>) async throws {
    var random = SplitMix(seed: seed)
    let clock = ContinuousClock(), end = clock.now + Self.length
    while clock.now < end {
      let weather: FaultyNetwork.Weather = random.pick([
        .fine, .fine, .slow(1 + random.below(100)), .silent, Self.answer("200 OK"), Self.answer("403 Forbidden"),
        Self.answer("404 Not Found"), Self.answer("503 Service Unavailable", "retry-after: 1\r\n"),
      ])
      network.set(weather)
      if weather == .fine { network.cut() }
      if Self.isLong, random.oneIn(40) { network.forget() }
      faults.add("\(weather)".prefix { $0 != "\r" }.description)
      try await Task.sleep(for: .milliseconds(200 + random.below(800)))
      if weather != .fine {
        network.set(.fine)
        if random.oneIn(2) { network.cut() }
      }
      // Enough for something to arrive.
      try await Task.sleep(for: .milliseconds(random.below(600)))
    }
    network.set(.fine)
    network.cut()
  }

  @Test func `through cuts, delays, pages, refusals and silence nothing is lost or doubled, and a user stays`()
    async throws
  {
    let world = try await SoakWorld()
    let (app, truth) = (try world.app(), try world.app(at: world.port))
    let monitor = FakeNetwork()
    app.container.override((any NetworkMonitor).self, with: monitor as any NetworkMonitor)
    let auth = try Auth.instance(for: app)
    let user = try await auth.createUser(withEmail: "ada@example.com", password: "correct horse").user

    let documents = DocumentWorker(db: try Firestore.instance(for: app))
    let tree = TreeWorker(try Database.instance(for: app).reference())
    let files = FileWorker(files: try Storage.instance(for: app).reference(withPath: "files"), seed: seed)
    let messaging = try #require(try app.container.require(Messaging.self) as Messaging?)
    let messages = MessageWorker(messaging, try app.container.require((any MessagingAdminBackend).self))
    _ = try await messaging.token()
    let source = try app.container.require((any InstallationSource).self)
    let id = try await source.credential().id
    let receiving = Task { await messages.receive() }

    let isOver = Locked(false)
    let over: @Sendable () -> Bool = { isOver.withLock { $0 } }
    let signOuts = Locked(0)
    async let batches = documents.run(until: over)
    async let values = tree.run(until: over)
    async let uploads = files.run(until: over)
    async let sent = messages.run(until: over)
    async let ids = InstallationWorker(source: source).run(until: over)
    let faults = Log<String>()
    let refreshing = Task {
      while !over() {
        let count = faults.entries.count
        _ = try? await user.getIDToken(forcingRefresh: true)
        if auth.currentUser?.uid != user.uid { signOuts.withLock { $0 += 1 } }
        await faults.wait { $0.count > count }
      }
    }
    try await storm(on: world.network, faults)
    isOver.withLock { $0 = true }
    faults.add("none")
    monitor.change()
    let (counts, outcome) = (try await (batches, values, uploads), try await sent)
    print(
      """
      seed \(seed): \(faults.entries.count) faults, \(counts.0) batches, \(counts.1) values, \(counts.2) files, \
      \(outcome.accepted.count) messages and \(outcome.unknown.count) of unknown outcome
      """)

    try await documents.db.waitForPendingWrites()
    try await DocumentWorker.check(try Firestore.instance(for: truth), counts.0)
    try await tree.check(try Database.instance(for: truth).reference(), counts.1)
    try await files.check(try Storage.instance(for: truth).reference(withPath: "files"), counts.2)
    try await messages.check(outcome)
    #expect(try await ids == [id], "seed \(seed)")
    await refreshing.value
    #expect(signOuts.withLock { $0 } == 0, "seed \(seed)")
    _ = try await user.getIDToken(forcingRefresh: true)
    receiving.cancel()
    await app.erase()
    await truth.erase()
    await world.stop()
  }
}
