import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// A client and the listens of a service, taken apart into steps whose order a test chooses.
///
/// The client is its own values (`ClientTree`, `RequestBook`), the service its own hub; what a repo and a room do with
/// their queues and tasks are steps here, as small as another thread could get in between. By the example of a client
/// that observes one place while another client writes there, the steps are: the call, the request is taken, the store
/// is read, the result is sent, two messages are received; and concurrently the commit, its message, the message
/// received.
final class ListenModel {
  /// A call of the client.
  enum Call: CustomStringConvertible {
    case observe(Int, SyncQuery)
    case stop(Int)
    case set(DatabasePath, DatabaseNode)

    var description: String {
      switch self {
      case .observe(let id, let query): "observe \(id) \(query.path) \(query.spec)"
      case .stop(let id): "stop \(id)"
      case .set(let path, let node): "set \(path) \(node)"
      }
    }
  }

  /// One of the things that can happen next.
  enum Step {
    case call, receive
    /// The service takes a request, or a write of another client.
    case take, takeForeign
    /// The next piece of what the service does in turn.
    case turn
    /// The next piece of a read that runs concurrently with the others.
    case read(Int)
  }

  // The client.
  private var calls: ArraySlice<Call>
  private var data = ClientTree()
  private var book = RequestBook()
  private var queries: [Int: SyncQuery] = [:]
  /// The values that each observer was shown.
  private(set) var shown: [Int: [DatabaseNode]] = [:]
  /// Messages that no history of these tests has.
  private var unexpected: [String] = []

  // Between both.
  private var requests: [(request: DatabaseRequest, id: Int)] = []
  private var messages: [DatabaseServerMessage] = []

  /// The service.
  private let service: ListenModelService
  private var foreign: ArraySlice<DatabasePathValue>
  private let isWritten: Bool

  init(_ tree: DatabaseNode, calls: [Call], foreign: [DatabasePathValue]) {
    self.calls = calls[...]
    self.foreign = foreign[...]
    isWritten = !foreign.isEmpty || calls.contains { if case .set = $0 { true } else { false } }
    service = ListenModelService(tree)
    _ = book.connected()
  }

  // MARK: Steps

  /// The possible next steps, in a fixed order.
  var steps: [Step] {
    var steps: [Step] = []
    if !calls.isEmpty { steps.append(.call) }
    if !messages.isEmpty { steps.append(.receive) }
    if !requests.isEmpty { steps.append(.take) }
    if !foreign.isEmpty { steps.append(.takeForeign) }
    if !service.turns.isEmpty { steps.append(.turn) }
    return steps + service.reads.indices.map { .read($0) }
  }

  func run(_ step: Step) {
    switch step {
    case .call: perform(calls.removeFirst())
    case .receive: receive(messages.removeFirst())
    case .take:
      let (request, id) = requests.removeFirst()
      service.take(request, id)
    case .takeForeign: service.takeForeign(foreign.removeFirst())
    case .turn: service.runTurn()
    case .read(let index): service.runRead(index)
    }
    performListenActions()
    messages += service.takeMessages()
  }

  /// Runs what can happen, in a random order, until nothing is left.
  ///
  /// - Returns: The order.
  func finish(using random: inout SplitMix) -> [Step] {
    var order: [Step] = []
    while let step = steps.randomElement(using: &random) {
      run(step)
      order.append(step)
    }
    return order
  }

  /// The observers that do not show what the service has, when nothing is left to happen.
  var wrong: [String] {
    unexpected
      + queries.sorted { $0.key < $1.key }.compactMap { id, query in
        let expected = expected(query), last = shown[id]?.last
        if last == expected { return nil }
        return "\(id) of \(query.path) shows \(last?.description ?? "nothing"), not \(expected)"
      }
  }

  /// The values that observers have shown and that the service has never had; none where something was written.
  var invented: [String] {
    if isWritten { return [] }
    return queries.flatMap { id, query in
      (shown[id] ?? []).filter { $0 != expected(query) }.map { "\(id) of \(query.path) has shown \($0)" }
    }
  }

  private func expected(_ query: SyncQuery) -> DatabaseNode {
    NodeWindow.window(of: service.tree[query.path], query.spec)
  }

  // MARK: The client

  private func perform(_ call: Call) {
    switch call {
    case .observe(let id, let query):
      queries[id] = query
      let observer = Observer(
        id: id, path: query.path, spec: query.spec, kinds: [.value], isOnce: false, event: { _ in }, cancel: { _ in })
      raise(data.add(observer))
    case .stop(let id):
      queries[id] = nil
      data.remove(id)
    case .set(let path, let node):
      let write = StoredWrite(id: data.makeWriteID(), path: path, change: .overwrite(node))
      raise(data.show(write, serverTime: 0))
      _ = book.add(write.request, .write(write.id, at: path, isStored: false))
      perform(book.sendWrites())
    }
  }

  private func receive(_ message: DatabaseServerMessage) {
    switch message {
    case .reply(let number, let reply): perform(book.replied(number, reply))
    case .data(let path, let node, let tag): raise(data.tree.receivedOverwrite(path, node, tag: tag))
    case .merge(let path, let values, let tag):
      var trie = WriteTrie.empty
      for value in values { trie.add(value.node, at: value.path) }
      raise(data.tree.receivedMerge(path, trie, tag: tag))
    case .rangeMerge(let path, let merges, let tag): raise(data.tree.serverRangeMerge(path, merges, tag: tag))
    default: unexpected.append("\(message)")
    }
  }

  private func perform(_ actions: [RequestBook.Action]) {
    for action in actions {
      switch action {
      case .send(let request, let purpose):
        performListenActions()
        send(request, for: purpose)
      case .showListen(let query, _, let isCurrent):
        if isCurrent { raise(data.tree.listenComplete(query.path, query.spec)) }
        perform(book.shown())
      case .showAnswer(.write(let id, _, _), let reply):
        raise(data.tree.acknowledge(writeID: id, isRevert: reply.status != .ok))
      default: break
      }
    }
  }

  private func performListenActions() {
    for action in data.tree.takeListenActions() {
      switch action {
      case .start(let path, let spec, let tag):
        let query = SyncQuery(path: path, spec: spec)
        send(data.listen(query, tag: tag, DatabaseTuning()), for: book.listen(query))
      case .stop(let path, let spec, let tag):
        book.unlisten(SyncQuery(path: path, spec: spec))
        send(.unlisten(path, spec, tag: tag), for: .notice)
      }
    }
  }

  private func send(_ request: DatabaseRequest, for purpose: RequestBook.Purpose) {
    requests.append((request, book.number(of: purpose)))
  }

  private func raise(_ events: [SyncEvent]) {
    for event in events {
      guard case .data(.value, _, let node, _) = event.content else { continue }
      shown[event.registration, default: []].append(node.node)
    }
  }
}
