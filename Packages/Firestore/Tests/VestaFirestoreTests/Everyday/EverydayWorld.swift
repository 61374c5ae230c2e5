import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

/// Two clients of one project in everyday use: nothing is waited for, connections are slow and break, and processes are
/// killed.
final class EverydayWorld {
  final class Client {
    let index: Int
    let isEmbedded: Bool
    /// The content of its disk.
    let disk = ModelStore()
    let auth = EverydayAuth()
    var process: EverydayProcess
    var app: VestaApp
    var db: Firestore
    /// Whether its network is disabled, and no call that enables it is under way.
    var isOffline = false
    var notes: EverydayNotes

    init(_ index: Int, isEmbedded: Bool, _ engine: FirestoreEngine, _ random: inout SplitMix) throws {
      (self.index, self.isEmbedded) = (index, isEmbedded)
      process = EverydayProcess(seed: random.next())
      app = try Self.make(index, isEmbedded, disk, auth, process, engine, &random)
      db = try Firestore.instance(for: app)
      notes = EverydayNotes(db)
    }

    private static func make(
      _ index: Int, _ isEmbedded: Bool, _ disk: ModelStore, _ auth: EverydayAuth, _ process: EverydayProcess,
      _ engine: FirestoreEngine, _ random: inout SplitMix
    ) throws -> VestaApp {
      let parts = EverydayApps.Parts(
        auth: auth, backend: EverydayBackend(engine, process), store: EverydayStore(disk, process),
        tuning: EverydayApps.tuning(&random))
      return try EverydayApps.make("everyday-\(random.next())-\(index)", isEmbedded: isEmbedded, parts)
    }

    /// Begins as a new process, with the content of the disk.
    func begin(_ engine: FirestoreEngine, _ random: inout SplitMix) throws {
      process = EverydayProcess(seed: random.next())
      app = try Self.make(index, isEmbedded, disk, auth, process, engine, &random)
      try renew()
    }

    /// Takes the next instance of the app.
    func renew() throws {
      db = try Firestore.instance(for: app)
      (isOffline, notes) = (false, EverydayNotes(db))
    }
  }

  let engine = FirestoreEngine(store: ModelStore())
  let ledger = EverydayLedger()
  /// The calls that have begun and must end.
  let work = EverydayWork()
  /// The streams that are not left, and must end with their instances.
  let streams = EverydayWork()
  var clients: [Client] = []
  var random: SplitMix
  private(set) var history: [String] = []
  private(set) var faults: [String] = []
  /// The transactions that have been committed, and the transactions that may have been.
  let transactions = Locked((committed: 0, begun: 0))

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    for index in 0..<2 { clients.append(try Client(index, isEmbedded: random.oneIn(2), engine, &random)) }
    for client in clients { client.process.setBreaks(random.pick([0, 0, 20, 100])) }
  }

  func log(_ text: String) { history.append(text) }
  func fault(_ text: String) { faults.append(text) }

  // MARK: The end

  /// Connects all clients for good, and compares the documents of the backend with the writes.
  func settle() async throws {
    for client in clients {
      client.process.setBreaks(0)
      ledger.noteOnline(client.index)
      try await client.db.enableNetwork()
      for user in [nil] + EverydayWorld.users {
        client.auth.signIn(user)
        try await client.db.waitForPendingWrites()
      }
    }
    let late = await work.wait()
    if !late.isEmpty { fault("has not ended: \(late)") }
    try await compare()
  }

  private func compare() async throws {
    let db = clients[0].db
    func documents(_ collection: String) async throws -> [DocumentSnapshot] {
      try await db.collection(collection).getDocuments(source: .server).documents
    }
    var (logs, notes): ([String: [Int]], [String: Int]) = ([:], [:])
    for log in try await documents("logs") { logs[log.documentID] = log.get("numbers") as? [Int] ?? [] }
    for note in try await documents("notes") { notes[note.documentID] = note.get("number") as? Int }
    let counters = Dictionary(
      uniqueKeysWithValues: try await documents("counters").map { ($0.documentID, $0.get("n") as? Int ?? 0) })
    for text in ledger.faults(logs: logs, counter: counters["writes"] ?? 0, notes: notes) { fault(text) }
    let (committed, begun) = transactions.withLock { $0 }
    if !(committed...max(committed, begun)).contains(counters["transactions"] ?? 0) {
      fault("\(counters["transactions"] ?? 0) transactions, of \(committed) committed and \(begun) begun")
    }
    for client in clients where !(await client.notes.converge(notes)) {
      fault("client \(client.index) shows \(client.notes.last), not \(notes)")
    }
  }

  func close() async {
    for client in clients {
      await client.app.delete()
      client.process.kill()
    }
    let late = await work.wait() + streams.wait()
    if !late.isEmpty { fault("has not ended with its app: \(late)") }
  }

  static let users = ["alice", "bob"]
}

/// A listener to all notes, from the beginning of an instance to its end.
final class EverydayNotes: Sendable {
  private let state = Locked<(shown: [String: Int]?, last: String, latch: Latch)>((nil, "nothing", Latch()))

  init(_ db: Firestore) {
    db.collection("notes").addSnapshotListener(includeMetadataChanges: true) { [state] snapshot, error in
      guard let snapshot else { return state.withLock { $0.last = "\(String(describing: error))" } }
      var notes: [String: Int] = [:]
      for note in snapshot.documents { notes[note.documentID] = note.get("number") as? Int }
      let isSettled = !snapshot.metadata.isFromCache && !snapshot.metadata.hasPendingWrites
      let latch = state.withLock { [notes] state in
        state.shown = isSettled ? notes : nil
        state.last = "\(notes), \(snapshot.metadata)"
        defer { state.latch = Latch() }
        return state.latch
      }
      latch.open()
    }
  }

  /// The data of the last snapshot; `nil` while it is incomplete.
  private var shown: [String: Int]? { state.withLock { $0.shown } }

  /// The last snapshot or error.
  var last: String { state.withLock { $0.last } }

  /// Waits until the snapshots show the notes of the backend.
  func converge(_ notes: [String: Int]) async -> Bool {
    await holds { [state] in
      state.withLock { $0.latch }
    } _: {
      shown == notes
    }
  }
}

/// Waits until a condition holds, which is looked at each time a latch opens; for a bounded time.
///
/// - Parameter latch: Returns the latch that the next change opens.
private func holds(_ latch: @escaping @Sendable () -> Latch, _ condition: () -> Bool) async -> Bool {
  let isLate = Locked(false)
  let timer = Task {
    try await Task.sleep(for: .seconds(60))
    isLate.withLock { $0 = true }
    latch().open()
  }
  defer { timer.cancel() }
  while true {
    let next = latch()
    if condition() { return true }
    if isLate.withLock({ $0 }) { return false }
    await next.wait()
  }
}

/// Calls that must end, each with its name.
final class EverydayWork: Sendable {
  private let state = Locked<(next: Int, open: [Int: String], latch: Latch)>((0, [:], Latch()))

  /// Notes a call that begins; the result ends it.
  func begin(_ name: String) -> @Sendable () -> Void {
    let id = state.withLock { state in
      state.next += 1
      state.open[state.next] = name
      return state.next
    }
    return { [state] in
      let latch = state.withLock { state in
        state.open[id] = nil
        defer { state.latch = Latch() }
        return state.latch
      }
      latch.open()
    }
  }

  /// Runs a call in a separate task.
  func run(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
    let end = begin(name)
    Task {
      try? await body()
      end()
    }
  }

  /// Waits until all calls have ended, for a bounded time; returns the ones that have not.
  func wait() async -> [String] {
    _ = await holds { [state] in
      state.withLock { $0.latch }
    } _: {
      state.withLock { $0.open.isEmpty }
    }
    return state.withLock { Array($0.open.values) }
  }
}
