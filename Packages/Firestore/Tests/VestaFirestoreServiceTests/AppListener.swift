import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService

/// A listener that keeps what it is sent as Firebase's clients do.
///
/// The messages of a stream count from a global snapshot on; if the stream ends before, they are forgotten. A token
/// without a target is that of each target that was acknowledged, whether it is current or not; with it the target is
/// asked for again on the next stream.
struct AppListener {
  /// The state of a target that outlives a stream.
  struct Listened {
    let subject: Target.Subject
    var once = false
    fileprivate(set) var documents: [String: Document] = [:]
    fileprivate(set) var token: [UInt8] = []
  }

  /// The messages of the stream about a target.
  private struct Received {
    var outstanding = 0
    var isCurrent = false
    var token: [UInt8] = []
    /// Since the last global snapshot; `nil` for documents that have left.
    var changes: [String: Document?] = [:]
    /// Every document that the stream has sent and not taken back.
    var given: [String: Document] = [:]
  }

  private let engine: FirestoreEngine
  private let context: () -> CallContext
  private let label: String
  private let tellsCounts: Bool
  private var call: ListenCall
  private var iterator: AsyncThrowingStream<[ListenResponse], any Error>.Iterator
  private var received: [Int32: Received] = [:]
  private(set) var listened: [Int32: Listened] = [:]
  /// The last global snapshot of the stream.
  private(set) var readTime = Timestamp(seconds: 0)
  /// How each stream ended that was not left.
  private(set) var endings: [ServiceCode] = []
  private(set) var checks = 0

  /// - Parameter tellsCounts: Whether it says how many documents it has where it resumes, as newer clients do.
  init(
    _ engine: FirestoreEngine, as context: @escaping () -> CallContext, tellsCounts: Bool, _ label: String
  ) async throws {
    (self.engine, self.context, self.tellsCounts, self.label) = (engine, context, tellsCounts, label)
    call = try await engine.listen(database: database, context: context())
    iterator = call.responses.makeAsyncIterator()
  }

  /// The targets that are not current.
  var missing: [Int32] { listened.keys.filter { received[$0]?.isCurrent != true || !isActive($0) }.sorted() }

  mutating func add(_ id: Int32, _ subject: Target.Subject, once: Bool = false) {
    listened[id] = Listened(subject: subject, once: once)
    ask(for: id)
  }

  mutating func remove(_ id: Int32) {
    listened[id] = nil
    received[id, default: Received()].outstanding += 1
    call.send(.removeTarget(id: id))
  }

  func cancel() { call.cancel() }

  /// Says that no request follows, and reads what is left.
  mutating func finish() async throws {
    call.finish()
    while let batch = try await iterator.next(isolation: #isolation) {
      for response in batch { try await apply(response) }
    }
  }

  /// Listens again on a new stream.
  mutating func reconnect() async throws {
    call.cancel()
    call = try await engine.listen(database: database, context: context())
    iterator = call.responses.makeAsyncIterator()
    received = [:]
    readTime = Timestamp(seconds: 0)
    for id in listened.keys.sorted() { ask(for: id) }
  }

  private mutating func ask(for id: Int32) {
    guard let kept = listened[id] else { return }
    var target = Target(id: id, kept.subject, resume: kept.token.isEmpty ? nil : .token(kept.token))
    target.once = kept.once
    if tellsCounts, !kept.token.isEmpty { target.expectedCount = Int32(kept.documents.count) }
    received[id, default: Received()].outstanding += 1
    call.send(.addTarget(target))
  }

  /// Reads up to a global snapshot at or after a time, or some batches; a stream that has ended is opened again.
  mutating func read(upTo time: Timestamp, batches: Int = .max) async throws {
    var count = 0
    while count < batches, readTime < time {
      count += 1
      do {
        guard let batch = try await iterator.next(isolation: #isolation) else { return }
        for response in batch { try await apply(response) }
      } catch let error as FirestoreServiceError {
        endings.append(error.code)
        try await reconnect()
      }
    }
  }

  private func isActive(_ id: Int32) -> Bool { listened[id] != nil && received[id]?.outstanding == 0 }

  private mutating func apply(_ response: ListenResponse) async throws {
    switch response {
    case .targetChange(let change): try await apply(change)
    case .documentChange(let change):
      for id in change.targetIDs where isActive(id) { give(change.document, to: id) }
      for id in change.removedTargetIDs { take(change.document.name, from: id) }
    case .documentDelete(let delete): for id in delete.removedTargetIDs { take(delete.document, from: id) }
    case .documentRemove(let remove): for id in remove.removedTargetIDs { take(remove.document, from: id) }
    case .filter(let filter):
      guard isActive(filter.targetID), let kept = listened[filter.targetID] else { return }
      var names = Set(kept.documents.keys)
      for (name, document) in received[filter.targetID]?.changes ?? [:] {
        if document == nil { names.remove(name) } else { names.insert(name) }
      }
      #expect(names.count == filter.count, "\(label): target \(filter.targetID) has lost documents")
    }
  }

  private mutating func give(_ document: Document, to id: Int32) {
    if let before = received[id]?.given[document.name] {
      #expect(before != document, "\(label): \(document.name) twice in target \(id)")
      #expect(before.updateTime.map { $0 <= document.updateTime ?? $0 } ?? true, "\(label): older in \(id)")
    }
    received[id]?.given[document.name] = document
    received[id]?.changes[document.name] = .some(document)
  }

  private mutating func take(_ name: String, from id: Int32) {
    guard isActive(id) else { return }
    received[id]?.given[name] = nil
    received[id]?.changes[name] = .some(nil)
  }

  private mutating func apply(_ change: TargetChange) async throws {
    if change.targetIDs.isEmpty {
      for id in listened.keys where isActive(id) { store(change.resumeToken, in: id) }
      if change.kind == .noChange, let time = change.readTime { try await settle(at: time) }
      return
    }
    for id in change.targetIDs {
      switch change.kind {
      case .noChange: if isActive(id) { store(change.resumeToken, in: id) }
      case .add:
        received[id]?.outstanding -= 1
        guard isActive(id) else { continue }
        received[id] = Received()
        store(change.resumeToken, in: id)
      case .remove where change.cause != nil:
        #expect(change.cause?.code == .permissionDenied, "\(label): \(String(describing: change.cause))")
        (listened[id], received[id]) = (nil, nil)
      case .remove:
        if listened[id]?.once == true, isActive(id) {
          #expect(received[id]?.isCurrent == true, "\(label): \(id) ends before it is current")
          (listened[id], received[id]) = (nil, nil)
          continue
        }
        received[id]?.outstanding -= 1
        if received[id]?.outstanding == 0 { received[id] = nil }
      case .current:
        guard isActive(id) else { continue }
        received[id]?.isCurrent = true
        store(change.resumeToken, in: id)
      case .reset:
        guard isActive(id) else { continue }
        received[id] = Received()
        for name in listened[id]?.documents.keys.map(\.self) ?? [] { received[id]?.changes[name] = .some(nil) }
      }
    }
  }

  private mutating func store(_ token: [UInt8], in id: Int32) { if !token.isEmpty { received[id]?.token = token } }

  /// Takes over what was sent, and compares the targets that are current with the database at that time.
  private mutating func settle(at time: Timestamp) async throws {
    #expect(time >= readTime, "\(label): a snapshot goes back")
    readTime = time
    for id in listened.keys.sorted() where isActive(id) {
      guard let news = received[id] else { continue }
      for (name, document) in news.changes { listened[id]?.documents[name] = document }
      if !news.token.isEmpty { listened[id]?.token = news.token }
      received[id]?.changes = [:]
      if news.isCurrent { try await check(id, at: time) }
    }
  }

  private mutating func check(_ id: Int32, at time: Timestamp) async throws {
    guard let kept = listened[id] else { return }
    checks += 1
    let found: [Document]
    switch kept.subject {
    case .query(_, let query): found = try await engine.query(query, .readTime(time))
    case .documents(let names):
      var documents: [Document] = []
      for name in names {
        if let document = try await engine.get(String(name.dropFirst(root.count + 1)), .readTime(time)) {
          documents.append(document)
        }
      }
      found = documents
    }
    let expected = Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    let isRight = kept.documents == expected
    #expect(
      isRight,
      """
      \(label): target \(id) at \(time): lost \(expected.keys.filter { kept.documents[$0] == nil }.sorted()), \
      kept \(kept.documents.keys.filter { expected[$0] == nil }.sorted()), \
      old \(expected.filter { kept.documents[$0.key].map { [now = $0.value] in $0 != now } ?? false }.keys.sorted())
      """)
  }
}
