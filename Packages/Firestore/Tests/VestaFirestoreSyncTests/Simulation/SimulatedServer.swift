import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A small backend on one thread: every state it ever had, watch streams with resume tokens, write streams, and the
/// answers to the last requests of each queue.
final class SimulatedServer {
  typealias State = [ResourcePath: Document]

  /// The answer to a request, in its place of the ring of its queue.
  private struct Answer {
    let number: Int64
    let outcome: Result<WriteResponse, FirestoreServiceError>
  }

  /// How many states are kept for the checks.
  private static let keptStates = 20_000

  /// The targets of one watch stream, and the documents that it has sent for each.
  final class Watch {
    var targets: [Int32: (target: QueryTarget, sent: [ResourcePath: Timestamp])] = [:]
    var outbox: [ListenResponse] = []
  }

  private(set) var version = 1
  private var history: [Int: State] = [1: [:]]
  /// The queries of targets, the results of the last versions and the paths of names: all are much asked for.
  private var queries: [QueryTarget: NormalQuery] = [:]
  private var known: [Int: [QueryTarget: [Document]]] = [:]
  private var paths: [String: ResourcePath] = [:]
  private static let knownVersions = 200
  private var answers: [[UInt8]: [Int64: Answer]] = [:]
  /// The requests that were applied, and the requests that were refused.
  private(set) var applied: Set<WriteRequestID> = []
  private(set) var refused: Set<WriteRequestID> = []
  /// States before this one are forgotten.
  private var floor = 1
  private(set) var watches: [Watch] = []

  var state: State { history[version] ?? [:] }

  private func time(_ version: Int) -> Timestamp { Timestamp(seconds: Int64(version)) }
  private func token(_ version: Int) -> [UInt8] { Array("\(version)".utf8) }

  /// Forgets what was before, so that resumed targets have to start again.
  func forgetHistory() {
    floor = version
  }

  // MARK: Writing

  /// Serves a request, once however often it arrives.
  func serve(_ mutations: [Mutation], _ id: WriteRequestID) throws(FirestoreServiceError) -> WriteResponse {
    let place = id.number % WriteRequestID.window
    if let known = answers[id.queue]?[place], known.number >= id.number {
      guard known.number == id.number else { throw FirestoreServiceError(.alreadyExists, "The answer is gone.") }
      return try known.outcome.get()
    }
    let outcome: Result<WriteResponse, FirestoreServiceError>
    do {
      outcome = .success(try commit(mutations))
      applied.insert(id)
    } catch {
      outcome = .failure(error)
      refused.insert(id)
    }
    answers[id.queue, default: [:]][place] = Answer(number: id.number, outcome: outcome)
    return try outcome.get()
  }

  private func commit(_ mutations: [Mutation]) throws(FirestoreServiceError) -> WriteResponse {
    let next = version + 1
    var new = state
    var results: [WriteResult] = []
    for mutation in mutations {
      let outcome = try mutation.write(in: database).applied(to: new[mutation.path], commitTime: time(next))
      new[mutation.path] = outcome.document
      results.append(outcome.result)
    }
    version = next
    history[next] = new
    history[next - Self.keptStates] = nil
    known[next - Self.knownVersions] = nil
    for watch in watches { tell(watch) }
    return WriteResponse(streamToken: token(next), writeResults: results, commitTime: time(next))
  }

  // MARK: Listening

  func open() -> Watch {
    let watch = Watch()
    watches.append(watch)
    return watch
  }

  func close(_ watch: Watch) { watches.removeAll { $0 === watch } }

  /// The documents of a target, now or at a version; `nil` when the version is no longer kept.
  func results(_ target: QueryTarget) -> [Document] { results(target, of: version) ?? [] }

  func results(_ target: QueryTarget, of version: Int) -> [Document]? {
    guard let state = history[version] else { return nil }
    if target.isDocument { return state[target.path].map { [$0] } ?? [] }
    if let found = known[version]?[target] { return found }
    guard let query = queries[target] ?? (try? target.normalized()) else { return [] }
    queries[target] = query
    let found = query.results(in: state.values).documents
    if version > self.version - Self.knownVersions { known[version, default: [:]][target] = found }
    return found
  }

  /// The current documents of a target as a reader gets them; of a document target also the absence.
  func documents(of target: QueryTarget) -> [CachedDocument] {
    let found = results(target).compactMap { try? CachedDocument($0, likely: database) }
    guard found.isEmpty, target.isDocument else { return found }
    return [CachedDocument(ResourceName(database: database, path: target.path), .missing, version: time(version))]
  }

  func receive(_ request: ListenRequest, _ watch: Watch, _ target: QueryTarget?) {
    switch request {
    case .removeTarget(let id):
      watch.targets[id] = nil
      watch.outbox.append(.targetChange(TargetChange(.remove, targetIDs: [id])))
    case .addTarget(let message):
      guard let target else { return }
      add(target, message, watch)
    }
  }

  private func add(_ target: QueryTarget, _ message: Target, _ watch: Watch) {
    let id = message.id
    watch.outbox.append(.targetChange(TargetChange(.add, targetIDs: [id])))
    var sent: [ResourcePath: Timestamp] = [:]
    var isForgotten = false
    let from: Int? =
      switch message.resume {
      case .token(let bytes)?: Int(String(decoding: bytes, as: UTF8.self))
      case .readTime(let time)?: Int(time.seconds)
      case nil: nil
      }
    if let from {
      if from >= floor, let old = results(target, of: from) {
        for document in old { sent[path(document)] = document.updateTime }
      } else {
        isForgotten = true
      }
    }
    watch.targets[id] = (target, sent)
    watch.outbox += changes(id, watch)
    if isForgotten {
      watch.outbox.append(.filter(ExistenceFilter(targetID: id, count: Int32(results(target).count))))
    }
    watch.outbox.append(
      .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: token(version), readTime: time(version))))
    finish(watch)
  }

  private func tell(_ watch: Watch) {
    for id in watch.targets.keys.sorted() { watch.outbox += changes(id, watch) }
    finish(watch)
  }

  private func finish(_ watch: Watch) {
    watch.outbox.append(.targetChange(TargetChange(.noChange, resumeToken: token(version), readTime: time(version))))
  }

  private func changes(_ id: Int32, _ watch: Watch) -> [ListenResponse] {
    guard let (target, sent) = watch.targets[id] else { return [] }
    var messages: [ListenResponse] = []
    var now: [ResourcePath: Timestamp] = [:]
    for document in results(target) {
      let path = path(document)
      now[path] = document.updateTime
      if sent[path] != document.updateTime {
        messages.append(.documentChange(DocumentChange(document: document, targetIDs: [id])))
      }
    }
    for path in sent.keys.sorted() where now[path] == nil {
      let name = ResourceName(database: database, path: path).description
      if state[path] == nil {
        messages.append(
          .documentDelete(DocumentDelete(document: name, removedTargetIDs: [id], readTime: time(version))))
      } else {
        messages.append(
          .documentRemove(DocumentRemove(document: name, removedTargetIDs: [id], readTime: time(version))))
      }
    }
    watch.targets[id]?.sent = now
    return messages
  }

  func path(_ document: Document) -> ResourcePath {
    if let path = paths[document.name] { return path }
    let path = (try? ResourceName(document: document.name, likely: database).path) ?? .root
    paths[document.name] = path
    return path
  }
}
