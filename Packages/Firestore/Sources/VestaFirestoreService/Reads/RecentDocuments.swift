import VestaFirestoreBackend
import VestaFirestoreModel
import VestaConcurrency
import VestaStoreInterop

/// Documents that were read lately, as they are at the latest commit: a get of one reads nothing.
///
/// What makes it right is the order of three things. A commit says which documents it changes before it can be visible
/// (`coming`). The store tells of every commit, in order: then what it changes is forgotten, and `latest` is its
/// version. And whoever shows a version to anybody says so (`noteSeen`): as long as a version beyond `latest` has been
/// shown, nothing is answered from here. So an answer is never older than what anybody has seen before it was asked
/// for.
///
/// ```
/// commit 20 of a:  coming[20] = [a] → visible → told of 20: a is forgotten, latest = 20 → acknowledged, seen = 20
/// get of a:        latest is 19: the document of 19;  seen is 20 and latest 19: the store;  then the one of 20
/// ```
///
/// A commit that nobody has announced, of another engine on the store, may have changed anything: all is forgotten.
final class RecentDocuments: Sendable {
  private struct Entry: Sendable {
    var document: Document
    var size: Int
  }

  private struct State: Sendable {
    /// What was used lately, and what was before; half of the limit each, and the older half goes.
    var young: [Key: Entry] = [:]
    var old: [Key: Entry] = [:]
    var youngSize = 0
    /// The last commit that the store has told of.
    var latest: Int64 = 0
    /// The last version that somebody has been shown.
    var seen: Int64 = 0
    /// What commits change that the store has not told of yet; some of them may never come.
    var coming: [Int64: [Key]] = [:]
    var observation: ListenerRegistration?

    mutating func forget(_ key: Key) {
      if let entry = young.removeValue(forKey: key) { youngSize -= entry.size }
      old[key] = nil
    }

    mutating func forgetAll() { (young, old, youngSize) = ([:], [:], 0) }

    mutating func keep(_ entry: Entry, _ key: Key, limit: Int) {
      if youngSize + entry.size > limit / 2 { (old, young, youngSize) = (young, [:], 0) }
      if let before = young.updateValue(entry, forKey: key) { youngSize -= before.size }
      youngSize += entry.size
    }
  }

  /// A document's full name; names that differ in a byte are different documents.
  private struct Key: Hashable, Sendable {
    let name: String

    static func == (left: Key, right: Key) -> Bool { UTF8Order.equal(left.name, right.name) }

    func hash(into hasher: inout Hasher) { UTF8Order.hash(name, into: &hasher) }
  }

  private let state = Locked(State())
  /// How many bytes of rows are kept, or little more; 0 for none.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Begins to follow a store, unless it does already; with a store that does not tell of each commit before it is
  /// acknowledged nothing is kept.
  func follow(_ store: any OrderedStore) async throws {
    guard limit > 0, let observable = store as? any CommitObservable, observable.tellsBeforeAcknowledging else {
      return
    }
    if state.withLock({ $0.observation != nil }) { return }
    let observation = observable.observeCommits { [weak self] in self?.told(of: $0.microseconds) }
    let isFirst = state.withLock { state in
      guard state.observation == nil else { return false }
      state.observation = observation
      return true
    }
    guard isFirst else { return observation.cancel() }
    // What is committed from here on is told.
    let version = try await store.read { $0.version.microseconds }
    state.withLock { $0.latest = max($0.latest, version) }
  }

  /// Forgets everything, for good.
  func close() {
    let observation = state.withLock { state in
      state.forgetAll()
      return state.observation
    }
    observation?.cancel()
  }

  private var isFollowing: Bool { state.withLock { $0.observation != nil } }

  /// Says what a commit will have changed if it succeeds, before it can be visible.
  fileprivate func announce(_ version: Int64, _ names: () -> [String]) -> Bool {
    guard limit > 0, isFollowing else { return false }
    let keys = names().map(Key.init)
    state.withLock { $0.coming[version] = keys }
    return true
  }

  /// Takes an announcement back: if there is a commit of this version after all, it is somebody else's.
  fileprivate func retract(_ version: Int64) { state.withLock { $0.coming[version] = nil } }

  private func told(of version: Int64) {
    state.withLock { state in
      if let keys = state.coming.removeValue(forKey: version) {
        for key in keys { state.forget(key) }
      } else {
        state.forgetAll()
      }
      state.latest = max(state.latest, version)
      // What was announced for an earlier version has failed, or run again.
      if state.coming.count > 64 { state.coming = state.coming.filter { $0.key > version } }
    }
  }

  /// Says that somebody is about to be shown a version.
  func noteSeen(_ version: Int64) {
    if limit > 0 { state.withLock { $0.seen = max($0.seen, version) } }
  }

  /// A document as it is at the latest version that anybody has seen, and that version; `nil` where the store must say.
  func document(_ name: String) -> (document: Document, version: Int64)? {
    let key = Key(name: name)
    return state.withLock { state in
      guard state.latest >= state.seen else { return nil }
      if let entry = state.young[key] { return (entry.document, state.latest) }
      guard let entry = state.old.removeValue(forKey: key) else { return nil }
      state.keep(entry, key, limit: limit)
      return (entry.document, state.latest)
    }
  }

  /// Keeps a document that was read at a version; nothing happens if there has been a commit since.
  ///
  /// - Parameter size: How long its row is.
  func keep(_ document: Document, readAt version: Int64, size: Int) {
    guard limit > 0, size < limit / 16 else { return }
    let key = Key(name: document.name)
    state.withLock { state in
      guard state.observation != nil, state.latest <= version else { return }
      // The fields of a document take up more than their row, and the name is there twice.
      state.keep(Entry(document: document, size: 3 * size + 200), key, limit: limit)
    }
  }
}

/// What one commit has announced; its body may run again, at another version.
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
