import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The first responses for a target: all its documents, or those changed since the target was followed before.
///
/// It is computed outside the hub, at a separate version, however long that takes. The hub then brings it to the
/// version that all others have reached, with the changes of the log since. Each document is sent once, in its state at
/// that version.
struct WatchStart: Sendable {
  let request: StartRequest
  private(set) var version: Int64
  /// Whether the caller has to forget its documents: it resumes from a version that is no longer known.
  let isReset: Bool
  /// The view of a limited query.
  private(set) var limited: LimitedView?
  private let attempts: Int

  /// The results of a limited query that the resuming caller has.
  private let base: WatchView?
  private var facts: [PathKey: WatchFact] = [:]
  /// The number of current results.
  private var count = 0
  /// The number of results that the caller has after these responses.
  private var believed: Int?
  private var unchangedNames: BloomFilterMessage?
  /// The messages for one target, made from the facts in advance, which they replace, and from later changes.
  private var prepared: (target: Int32, responses: [ListenResponse], pathKeys: Set<PathKey>)?
  private var late: [PathKey: WatchFact] = [:]

  /// Reads the results, or the changes since the resume token, at one version.
  ///
  /// - Parameters:
  ///   - digest: MD5, for a filter of the names that have not changed; without it the count alone is sent.
  ///   - now: The clock; no token is later.
  ///   - attempts: How often the start was made in vain.
  init(
    _ request: StartRequest, in snapshot: Snapshot, digest: BloomFilter.Digest?, now: Int64, attempts: Int = 0
  ) async throws {
    self.request = request
    self.attempts = attempts
    version = snapshot.version
    let known = request.known
    let horizon = try await snapshot.horizon()
    // A token may be ahead of the last commit, where nothing was committed for long; never of the clock.
    let latest = max(snapshot.version, now)
    let since = known.flatMap { $0 >= horizon && $0 <= latest ? min($0, snapshot.version) : nil }
    isReset = request.resume != nil && since == nil
    guard let since else {
      base = nil
      try await begin(in: snapshot)
      return
    }
    base =
      request.subject.isLimited
      ? try await request.subject.results(in: try await snapshot.at(since, request.subject.scope)) : nil
    try await resume(from: since, in: snapshot, digest)
  }

  /// Adds the changes up to a later version.
  ///
  /// - Parameters:
  ///   - known: The results of a limited query at that version, where other targets follow it.
  ///   - asking: Whether a limited query may run again.
  /// - Returns: Whether it is done. If not, the log no longer has all of it or a query has to run again, and a new
  ///   start is needed.
  mutating func advance(
    to snapshot: Snapshot, view known: WatchView? = nil, asking: Bool = true
  ) async throws -> Bool {
    guard version < snapshot.version else { return true }
    guard version >= (try await snapshot.horizon()) else { return false }
    let changes = try await WatchChange.all(after: version, request.subject.scope, in: snapshot)
    var limited = limited
    var effects: [LimitedView.Effect] = []
    for change in changes {
      let (wasIn, isIn) = change.membership(in: request.subject)
      guard wasIn || isIn else { continue }
      if let effect = limited?.take(change, isIn: isIn) {
        effects.append(effect)
        continue
      }
      count += (isIn ? 1 : 0) - (wasIn ? 1 : 0)
      believed? += (isIn ? 1 : 0) - (wasIn ? 1 : 0)
      note(change.fact(isIn: isIn))
    }
    if let known {
      self.limited = request.subject.limitedView(known)
    } else if !effects.contains(.unknown) {
      self.limited = limited
    } else {
      guard asking else { return false }
      self.limited = try await request.subject.limitedView(in: snapshot, attempts: attempts)
    }
    version = snapshot.version
    if effects.contains(where: { $0 != .none }) { try await tellView(in: snapshot) }
    return true
  }

  /// Makes the messages for a target ahead, so that they cost nothing when it joins.
  mutating func prepare(for target: Int32) {
    prepared = (target, messages(of: facts, for: target), Set(facts.keys))
    facts = [:]
  }

  /// The state of a document that is sent; `nil` for a document that has not changed since the resume token.
  func fact(at pathKey: PathKey) -> WatchFact? { facts[pathKey] }

  /// The messages between the acknowledgement of a target and its being current.
  func responses(for target: Int32) -> [ListenResponse] {
    var responses: [ListenResponse] = []
    if isReset { responses.append(.targetChange(TargetChange(.reset, targetIDs: [target]))) }
    if let prepared {
      let same = prepared.target == target
      var ready = same ? prepared.responses : prepared.responses.map { $0.readdressed(to: target) }
      if !late.isEmpty {
        // A caller that has joined later may know the new state already.
        let changed = Set(late.values.map { UTF8String($0.name) })
        ready.removeAll { $0.documentName.map { changed.contains(UTF8String($0)) } ?? false }
      }
      responses += ready
      responses += messages(of: late, for: target)
    } else {
      responses += messages(of: facts, for: target)
    }
    // It says how many there are where the caller's own count was not right, or is so no longer.
    if let expected = request.expectedCount, let believed, count != expected || count != believed {
      let filter = ExistenceFilter(targetID: target, count: Int32(clamping: count), unchangedNames: unchangedNames)
      responses.append(.filter(filter))
    }
    return responses
  }

  private func messages(of facts: [PathKey: WatchFact], for target: Int32) -> [ListenResponse] {
    var news = ResponseBuilder()
    for fact in facts.values { news.add(fact, for: [0: [target]]) }
    return news.responses(readTime: Timestamp(microseconds: version)).first?.responses ?? []
  }

  /// Returns all results, and keeps the view of a limited query.
  ///
  /// Without a spare, which most queries never need, unless the start was made in vain.
  private mutating func results(in snapshot: Snapshot) async throws -> WatchView {
    guard request.subject.isLimited, attempts > 0 else {
      let found = try await request.subject.results(in: snapshot)
      limited = request.subject.limitedView(found)
      return found
    }
    limited = try await request.subject.limitedView(in: snapshot, attempts: attempts)
    return limited?.view ?? [:]
  }

  private mutating func begin(in snapshot: Snapshot) async throws {
    let found = try await results(in: snapshot)
    count = found.count
    for (pathKey, document) in found {
      facts[pathKey] = WatchFact(pathKey: pathKey, name: document.name, document: document, isIn: true)
    }
    guard case .documents(let pathKeys) = request.subject else { return }
    for pathKey in pathKeys where facts[pathKey] == nil {
      let name = ResourceName(database: snapshot.name, path: try pathKey.path()).description
      facts[pathKey] = WatchFact(pathKey: pathKey, name: name, document: nil, isIn: false)
    }
  }

  private mutating func resume(
    from since: Int64, in snapshot: Snapshot, _ digest: BloomFilter.Digest?
  ) async throws {
    believed = request.expectedCount.map(Int.init)
    if request.subject.isLimited {
      _ = try await results(in: snapshot)
      try await tellView(in: snapshot)
    } else {
      for change in try await WatchChange.all(after: since, request.subject.scope, in: snapshot) {
        let (wasIn, isIn) = change.membership(in: request.subject)
        guard wasIn || isIn else { continue }
        believed? += (isIn ? 1 : 0) - (wasIn ? 1 : 0)
        facts[change.pathKey] = change.fact(isIn: isIn)
      }
    }
    guard let expected = request.expectedCount else { return }
    let found = if let limited { limited.view } else { try await request.subject.results(in: snapshot) }
    count = found.count
    guard let digest, expected > 0, count != expected || count != believed else { return }
    let unchanged = found.filter { facts[$0.key] == nil }.map(\.value.name)
    var filter = BloomFilter(expecting: unchanged.count, falsePositives: 0.0001, digest: digest)
    for name in unchanged { filter.insert(name) }
    unchangedNames = filter.message
  }

  /// Notes the results of a limited query: all of them, or the difference to the caller's.
  private mutating func tellView(in snapshot: Snapshot) async throws {
    let view = limited?.view ?? [:]
    count = view.count
    let told = try await view.facts(since: base ?? [:], in: snapshot)
    facts = Dictionary(told.map { ($0.pathKey, $0) }, uniquingKeysWith: { $1 })
    prepared = nil
    if let base, let expected = request.expectedCount { believed = Int(expected) + view.count - base.count }
  }

  private mutating func note(_ fact: WatchFact) {
    // A new target needs no message about a removed document, unless it is the target of just that document.
    var isAsked = request.resume != nil && !isReset
    if case .documents = request.subject { isAsked = true }
    if prepared == nil {
      facts[fact.pathKey] = fact.isIn || isAsked ? fact : nil
    } else if fact.isIn || isAsked || prepared?.pathKeys.contains(fact.pathKey) == true || late[fact.pathKey] != nil {
      late[fact.pathKey] = fact
    }
  }
}

/// The request for a start; targets with equal requests share one.
struct StartRequest: Hashable, Sendable {
  var subject: WatchSubject
  var resume: Target.Resume?
  var expectedCount: Int32?

  /// The version up to which the caller has followed the target; `nil` for a new target.
  var known: Int64? {
    switch resume {
    case nil: nil
    case .token(let token): ResumeToken.decode(token)
    case .readTime(let time): time.microseconds
    }
  }

  /// Whether the start reads a few documents at most, and nothing of the log.
  func isShort(at version: Int64, documents limit: Int) -> Bool {
    guard case .documents(let pathKeys) = subject, pathKeys.count <= limit else { return false }
    return known.map { $0 >= version } ?? true
  }
}

extension ListenResponse {
  /// The document that the response is about; `nil` for none.
  fileprivate var documentName: String? {
    switch self {
    case .documentChange(let change): change.document.name
    case .documentDelete(let delete): delete.document
    case .documentRemove, .targetChange, .filter: nil
    }
  }

  /// The response about a document with another target in it.
  fileprivate func readdressed(to target: Int32) -> ListenResponse {
    switch self {
    case .documentChange(var change):
      change.targetIDs = change.targetIDs.map { _ in target }
      change.removedTargetIDs = change.removedTargetIDs.map { _ in target }
      return .documentChange(change)
    case .documentDelete(var delete):
      delete.removedTargetIDs = [target]
      return .documentDelete(delete)
    case .documentRemove, .targetChange, .filter: return self
    }
  }
}
