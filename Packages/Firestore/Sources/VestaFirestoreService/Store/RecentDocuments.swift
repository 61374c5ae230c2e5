import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Documents that were read lately, as they are at the latest commit: a get of one reads nothing.
///
/// A document is kept when it is read for the second time: most documents of a large collection are read once, and
/// keeping them would cost every such read.
///
/// It is right by the order of three things. A commit says which documents it changes before it can be visible
/// (`announce`). The store reports every commit, in order: then what it changes is forgotten, and `latest` is its
/// version. And each caller that returns a version says so (`noteSeen`): as long as a version after `latest` has been
/// shown, nothing is answered from here. So an answer is never older than any version returned before it was requested
/// for.
///
/// ```
/// commit 20 of a:  coming[20] = [a] → visible → 20 is reported: a is forgotten, latest = 20 → acknowledged, seen = 20
/// get of a:        latest is 19: the document of 19;  seen is 20 and latest 19: the store;  then the one of 20
/// ```
///
/// A commit without an announcement is another engine's on the store, or work in the background. The documents are
/// *doubtful* from then on: the next get of one reads from the log what such commits have changed (`check`), and
/// forgets that alone.
///
/// ```
/// commit 21 of b, by another engine:  doubtful from 21 → get of a: the log from 21 on has b: b is forgotten, a is kept
/// ```
final class RecentDocuments: Sendable {
  /// The answer for a name.
  enum Answer: Sendable {
    /// The document as it is at the latest version that was returned, and that version.
    case found(Document, version: Int64)
    /// The document is kept, and may have changed since this version: call ``check(from:in:)`` and ask again.
    case doubtful(from: Int64)
    case absent
  }

  private struct Entry: Sendable {
    var document: Document
    var size: Int
  }

  private struct State: Sendable {
    /// The recently used documents, and the ones used before; half of the limit each, and the older half is evicted.
    var young: [Key: Entry] = [:]
    var old: [Key: Entry] = [:]
    var youngSize = 0
    /// The last commit that the store has reported.
    var latest: Int64 = 0
    /// The last version that was returned.
    var seen: Int64 = 0
    /// The changes of commits that the store has not reported yet; some of these commits may never happen.
    var coming: [Int64: [Key]] = [:]
    /// The commits that were reported and not announced, in order, since the last check.
    var unknown: [Int64] = []
    /// Marks of documents that were read once, by the hashes of their names; a document whose mark was overwritten
    /// counts as not read.
    var marks: [UInt32]
    /// The databases whose documents are here.
    var databases: [DatabaseName: DocumentDatabaseKeys] = [:]
    var observation: ListenerRegistration?

    mutating func forget(_ key: Key) {
      if let entry = young.removeValue(forKey: key) { youngSize -= entry.size }
      old[key] = nil
    }

    mutating func forgetAll() { (young, old, youngSize, unknown) = ([:], [:], 0, []) }

    /// Whether a document was read before; notes that it is now.
    mutating func hasRead(_ key: Key) -> Bool {
      let mark = UInt32(truncatingIfNeeded: key.hash >> 32) | 1
      let index = key.hash & (marks.count - 1)
      defer { marks[index] = mark }
      return marks[index] == mark
    }

    mutating func keep(_ entry: Entry, _ key: Key, limit: Int) {
      if youngSize + entry.size > limit / 2 { (old, young, youngSize) = (young, [:], 0) }
      if let before = young.updateValue(entry, forKey: key) { youngSize -= before.size }
      youngSize += entry.size
    }
  }

  /// A document's full name; names that differ in a byte are different documents.
  struct Key: Hashable, Sendable {
    let name: String
    /// Computed once: a look-up needs it several times, and names are long.
    fileprivate let hash: Int

    init(name: String) {
      self.name = name
      var hasher = Hasher()
      UTF8Order.hash(name, into: &hasher)
      hash = hasher.finalize()
    }

    static func == (left: Key, right: Key) -> Bool {
      left.hash == right.hash && UTF8Order.equal(left.name, right.name)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  private let state: Locked<State>
  private let tuning: RecentTuning
  /// The bytes of documents that are kept, or little more; 0 for none.
  private let limit: Int

  init(limit: Int, tuning: RecentTuning = RecentTuning()) {
    self.limit = limit
    self.tuning = tuning
    state = Locked(State(marks: [UInt32](repeating: 0, count: 1 << tuning.markBits)))
  }

  // MARK: The store

  /// Begins to follow a store, unless it does already; with a store that does not report each commit before it is
  /// acknowledged nothing is kept.
  func follow(_ store: any OrderedStore) async throws {
    guard limit > 0, let observable = store as? any CommitObservable, observable.tellsBeforeAcknowledging else {
      return
    }
    if state.withLock({ $0.observation != nil }) { return }
    let observation = observable.observeCommits { [weak self] in self?.reported($0.microseconds) }
    let isFirst = state.withLock { state in
      guard state.observation == nil else { return false }
      state.observation = observation
      return true
    }
    guard isFirst else { return observation.cancel() }
    // Commits from here on are reported.
    let version = try await store.read { $0.version.microseconds }
    state.withLock { $0.latest = max($0.latest, version) }
  }

  /// Adds a database, whose log says what unknown commits have changed.
  func include(_ name: DatabaseName, _ keys: DocumentDatabaseKeys) { state.withLock { $0.databases[name] = keys } }

  /// Forgets everything, for good.
  func close() {
    let observation = state.withLock { state in
      state.forgetAll()
      return state.observation
    }
    observation?.cancel()
  }

  /// Whether there is a document that a commit may change.
  ///
  /// One that is kept after this was asked and before the store reports the commit is doubtful then.
  private var keepsAny: Bool {
    state.withLock { $0.observation != nil && !($0.young.isEmpty && $0.old.isEmpty) }
  }

  // MARK: Commits

  /// Says what a commit will have changed if it succeeds, before it can be visible.
  fileprivate func announce(_ version: Int64, _ names: () -> [String]) -> Bool {
    guard limit > 0, keepsAny else { return false }
    let keys = names().map(Key.init)
    state.withLock { $0.coming[version] = keys }
    return true
  }

  /// Takes an announcement back: if there is a commit of this version after all, it is another engine's.
  fileprivate func retract(_ version: Int64) { state.withLock { $0.coming[version] = nil } }

  private func reported(_ version: Int64) {
    state.withLock { state in
      if let keys = state.coming.removeValue(forKey: version) {
        for key in keys { state.forget(key) }
      } else if !state.young.isEmpty || !state.old.isEmpty {
        state.unknown.append(version)
        if state.unknown.count > tuning.unknownCommits { state.forgetAll() }
      }
      state.latest = max(state.latest, version)
      // Commits announced for an earlier version have failed, or run again.
      if state.coming.count > tuning.announcedCommits { state.coming = state.coming.filter { $0.key > version } }
    }
  }

  /// Notes that a version is about to be returned.
  func noteSeen(_ version: Int64) {
    if limit > 0 { state.withLock { $0.seen = max($0.seen, version) } }
  }

  // MARK: Doubts

  /// Forgets what unknown commits have changed, by the logs of the databases.
  ///
  /// - Parameters:
  ///   - version: The first unknown commit.
  ///   - reader: It sees the log up to its version; commits after that stay unknown.
  func check(from version: Int64, in reader: any StoreReader) async throws {
    let databases = state.withLock { $0.databases }
    var (rows, bytes) = (0, 0)
    var changed: Set<Key> = []
    for (name, keys) in databases {
      // The log no longer says all that has changed since then.
      guard try NumberRow.number(try await reader.get(keys.horizon)) < version else {
        return state.withLock { $0.forgetAll() }
      }
      var pathKeys: [PathKey] = []
      let end = try await reader.scan(
        keys.log(after: version - 1), order: .ascending, limit: tuning.checkedRows - rows
      ) { _, value in
        bytes += value.byteCount
        pathKeys += try LogRow(value.bytes).changes.map(\.pathKey)
        return bytes < tuning.checkedBytes ? .next : .stop
      }
      rows += end.visited
      guard end.rest == nil, rows < tuning.checkedRows else { return state.withLock { $0.forgetAll() } }
      for pathKey in pathKeys {
        changed.insert(Key(name: ResourceName(database: name, path: try pathKey.path()).description))
      }
    }
    let seen = reader.version.microseconds
    state.withLock { state in
      for key in changed { state.forget(key) }
      state.unknown.removeAll { $0 <= seen }
    }
  }

  // MARK: Documents

  /// A document by its full name.
  func document(_ key: Key) -> Answer {
    state.withLock { state in
      guard state.latest >= state.seen else { return .absent }
      if let first = state.unknown.first {
        return state.young[key] == nil && state.old[key] == nil ? .absent : .doubtful(from: first)
      }
      if let entry = state.young[key] { return .found(entry.document, version: state.latest) }
      guard let entry = state.old.removeValue(forKey: key) else { return .absent }
      state.keep(entry, key, limit: limit)
      return .found(entry.document, version: state.latest)
    }
  }

  /// Notes that a document was read at a version, and keeps it if it was read before.
  ///
  /// Nothing is kept if there has been a commit since.
  ///
  /// - Parameters:
  ///   - key: The full name of the document.
  ///   - document: Returns the document, and the length of its row.
  func noteRead(_ key: Key, at version: Int64, _ document: () -> (document: Document, size: Int)) {
    guard limit > 0 else { return }
    guard state.withLock({ $0.observation != nil && $0.latest <= version && $0.hasRead(key) }) else { return }
    let (document, size) = document()
    guard size < limit / 16 else { return }
    state.withLock { state in
      guard state.latest <= version else { return }
      // The fields of a document take up more than their row, and the name is there twice.
      state.keep(Entry(document: document, size: 3 * size + 200), key, limit: limit)
    }
  }
}

/// The announcement of one commit, whose body may run again, at another version.
final class CommitAnnouncement: Sendable {
  private let recent: RecentDocuments
  private let version = Locked<Int64?>(nil)

  init(to recent: RecentDocuments) { self.recent = recent }

  /// Announces the commit at a version, and no longer at the one before.
  func announce(_ version: Int64, _ names: () -> [String]) {
    retract()
    if recent.announce(version, names) { self.version.withLock { $0 = version } }
  }

  /// Takes the announcement back after a failure.
  func retract() {
    if let version = version.withLock({ $0.take() }) { recent.retract(version) }
  }
}
