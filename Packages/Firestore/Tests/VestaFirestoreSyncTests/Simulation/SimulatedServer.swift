import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A small backend on one thread: every state it ever had, watch streams with resume tokens, write streams.
final class SimulatedServer {
  typealias State = [ResourcePath: Document]

  /// What one watch stream follows, and what it has told about each target.
  final class Watch {
    var targets: [Int32: (target: QueryTarget, sent: [ResourcePath: Timestamp])] = [:]
    var outbox: [ListenResponse] = []
  }

  private(set) var version = 1
  private var history: [Int: State] = [1: [:]]
  /// States before this one are forgotten.
  private var floor = 1
  private(set) var watches: [Watch] = []

  var state: State { history[version] ?? [:] }

  private func time(_ version: Int) -> Timestamp { Timestamp(seconds: Int64(version)) }
  private func token(_ version: Int) -> [UInt8] { Array("\(version)".utf8) }

  /// Forgets what was before, so that resumed targets have to start anew.
  func forgetHistory() {
    floor = version
    history = [version: state]
  }

  // MARK: Writing

  /// Commits a batch.
  func commit(_ mutations: [Mutation]) throws(FirestoreServiceError) -> WriteResponse {
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

  func results(_ target: QueryTarget, _ state: State) -> [Document] {
    if target.isDocument { return state[target.path].map { [$0] } ?? [] }
    guard let query = try? target.normalized() else { return [] }
    return query.results(in: state.values).documents
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
    if case .token(let bytes)? = message.resume, let from = Int(String(decoding: bytes, as: UTF8.self)) {
      if from >= floor, let old = history[from] {
        for document in results(target, old) { sent[path(document)] = document.updateTime }
      } else {
        isForgotten = true
      }
    }
    watch.targets[id] = (target, sent)
    watch.outbox += changes(id, watch)
    if isForgotten {
      watch.outbox.append(.filter(ExistenceFilter(targetID: id, count: Int32(results(target, state).count))))
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
    for document in results(target, state) {
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

  private func path(_ document: Document) -> ResourcePath {
    (try? ResourceName(document: document.name, likely: database).path) ?? .root
  }
}
