import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

/// Users in quick turns against a plain model: a write belongs to the user signed in when it was made, is sent with
/// that user's token alone, and is applied once.
///
/// Notifications of Auth arrive late, twice and in another order, from other threads, while the network comes and goes
/// and clients end and begin again.
@Suite(.timeLimit(.minutes(15)))
struct UserHistoryTests {
  private static let users: [String?] = ["alice", "bob", "carol", nil]

  /// A history, and the model: the owner of each document.
  private final class History {
    private let (backend, store, auth) = (SenderBackend(), ModelStore(), LateAuth())
    private let link: BackendLink
    private var random: SplitMix
    private var client: SyncClient
    private var owners: [String: String?] = [:]
    private var others: [Task<Void, Never>] = []

    init(seed: UInt64, link: BackendLink) {
      self.link = link
      random = SplitMix(seed: seed)
      client = backend.client(auth, store, link)
    }

    func run() async throws {
      for _ in 0..<120 { await step() }
      for other in others { await other.value }
      await client.setNetworkEnabled(true)
      for user in UserHistoryTests.users {
        auth.sign(in: user)
        try await client.waitForPendingWrites()
      }
    }

    private func step() async {
      switch random.below(20) {
      case 0..<5: auth.sign(in: random.pick(UserHistoryTests.users))
      case 5..<11: await write()
      case 11..<15: deliver()
      case 15: await client.setNetworkEnabled(random.oneIn(2))
      case 16: if random.oneIn(3) { await restart() }
      case 17: waitElsewhere()
      case 18: listen()
      default: await Task.yield()
      }
    }

    /// Writes on any thread, and does not wait for the answer.
    private func write() async {
      let documents = (0...random.below(2)).map { "note-\(owners.count + $0)" }
      for document in documents { owners[document] = auth.getUserID() }
      await Task.detached { [client] in _ = client.write(documents.map(counted)) }.value
    }

    private func deliver() {
      let (index, isKept) = (random.below(8), random.oneIn(4))
      others.append(Task.detached { [auth] in auth.deliver(index, isKept: isKept) })
    }

    private func restart() async {
      await client.shutdown()
      client = backend.client(auth, store, link)
    }

    private func waitElsewhere() {
      others.append(
        Task.detached { [client] in
          let wait = client.startWaitingForPendingWrites()
          await Task.yield()
          withExtendedLifetime(wait) {}
        })
    }

    /// A listener that asks Auth, and waits for writes, in its first event.
    private func listen() {
      let notes = try? LocalQuery(database: DatabaseName(project: "demo"), path: ResourcePath(splitting: "notes"))
      guard let notes else { return }
      let registration = client.listen(notes, options: ListenOptions(includesMetadata: true)) { [weak client, auth] _ in
        auth.deliver()
        _ = client?.startWaitingForPendingWrites()
      }
      others.append(
        Task.detached {
          for _ in 0..<20 { await Task.yield() }
          registration.remove()
        })
    }

    /// Compares what was sent, and what is stored now, with the model.
    func verify(_ name: Comment) async throws {
      for sent in backend.sent.entries { #expect(owners[sent.document] == .some(sent.user), name) }
      let documents = owners.keys.sorted()
      let found = try await client.lookup(documents.map(notePath))
      #expect(found.allSatisfy { $0.fields == ["n": .integer(1)] }, name)
      await client.shutdown()
    }
  }

  @Test(arguments: [BackendLink.embedded, .remote])
  func `each write is sent once, by the user who made it`(link: BackendLink) async throws {
    for seed: UInt64 in 0..<40 {
      let history = History(seed: seed, link: link)
      try await history.run()
      try await history.verify("seed \(seed)")
    }
  }
}
