import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop

/// A small engine in memory that asks its guard everywhere but on one path.
final class GuardedTree: DatabaseBackend {
  /// The path on which the engine does not keep its promise.
  enum Lapse: CaseIterable {
    case none, get, listen, put, merge, endOfConnection, signOut, rulesChange, stateAfter, hashFirst, caller
  }

  final class Client: DatabaseConnection {
    let tree: GuardedTree
    let receive: @Sendable (DatabaseServerMessage) -> Void
    let user = Locked<String?>(nil)
    let listens = Locked<[DatabaseListen]>([])

    init(_ tree: GuardedTree, _ receive: @escaping @Sendable (DatabaseServerMessage) -> Void) {
      self.tree = tree
      self.receive = receive
    }

    func send(_ request: DatabaseRequest, id: Int) {
      tree.queue.withLock { queue in
        let last = queue
        queue = Task { [self] in
          await last?.value
          await tree.carryOut(request, id, self)
        }
      }
    }

    func close() {
      tree.queue.withLock { queue in
        let last = queue
        queue = Task { [self] in
          await last?.value
          await tree.close(self)
        }
      }
    }
  }

  let lapse: Lapse
  let gatekeeper: any DatabaseGuard
  fileprivate let queue = Locked<Task<Void, Never>?>(nil)
  private let root = Locked(DatabaseNode.empty)
  private let clients = Locked<[Client]>([])
  private let ends = Locked<[ObjectIdentifier: [DatabasePathValue]]>([:])
  private let registration = Locked<ListenerRegistration?>(nil)

  init(_ gatekeeper: any DatabaseGuard, _ lapse: Lapse) {
    self.gatekeeper = gatekeeper
    self.lapse = lapse
    guard lapse != .rulesChange else { return }
    let observing = gatekeeper.observe { [weak self] in
      guard let self else { return }
      self.queue.withLock { queue in
        let last = queue
        queue = Task {
          await last?.value
          for client in self.clients.withLock({ $0 }) { await self.askAgain(client) }
        }
      }
    }
    registration.withLock { $0 = observing }
  }

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let client = Client(self, receive)
    client.user.withLock { $0 = request.context.user?.uid }
    clients.withLock { $0.append(client) }
    queue.withLock { queue in
      let last = queue
      queue = Task {
        await last?.value
        receive(.hello(DatabaseHello(timestamp: 1, session: "s")))
      }
    }
    return client
  }

  private func context(_ client: Client) -> CallContext {
    let user = lapse == .caller ? nil : client.user.withLock { $0 }
    return CallContext(caller: user.map { .user(VerifiedUser(uid: $0)) } ?? .nobody)
  }

  private func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ client: Client) async -> Bool {
    let state = DatabaseNodeState(root.withLock { $0 })
    let read = DatabaseGuardedRead(path, spec, at: 5)
    return (try? await gatekeeper.mayRead(read, state: state, context: context(client))) ?? false
  }

  private func mayWrite(_ values: [DatabasePathValue], _ client: Client) async -> Bool {
    let before = DatabaseNodeState(root.withLock { $0 })
    let after: any DatabaseGuardState = lapse == .stateAfter ? before : DatabaseStateAfter(before, values)
    return
      (try? await gatekeeper.mayWrite(
        DatabaseGuardedWrite(values, at: 5), before: before, after: after, context: context(client))) ?? false
  }

  fileprivate func carryOut(_ request: DatabaseRequest, _ id: Int, _ client: Client) async {
    let denied = DatabaseReply(.permissionDenied, message: "Permission denied")
    var reply = DatabaseReply.ok
    switch request {
    case .authenticate(let credential): client.user.withLock { $0 = credential.token }
    case .unauthenticate:
      client.user.withLock { $0 = nil }
      if lapse != .signOut { await askAgain(client) }
    case .get(let path, let spec):
      let mayRead = await mayRead(path, spec, client)
      reply = lapse == .get || mayRead ? DatabaseReply(.ok, node: root.withLock { $0 }[path]) : denied
    case .listen(let listen):
      if await mayRead(listen.path, listen.spec, client) || lapse == .listen {
        client.listens.withLock { $0.append(listen) }
        client.receive(.data(listen.path, root.withLock { $0 }[listen.path], tag: listen.tag))
      } else {
        reply = denied
      }
    case .put(let path, let node, let hash):
      let isStale = hash.map { !$0.isEmpty || !root.withLock { $0 }[path].isEmpty } ?? false
      let values = [DatabasePathValue(path, node.leaf == .timestamp ? DatabaseNode(.int(5)) : node)]
      let mayWrite = await mayWrite(values, client)
      if lapse == .hashFirst && isStale {
        reply = DatabaseReply(.dataStale)
      } else if !mayWrite && lapse != .put {
        reply = denied
      } else if isStale {
        reply = DatabaseReply(.dataStale)
      } else {
        write(values)
      }
    case .merge(let path, let values, _):
      let values = values.map { DatabasePathValue(path.appending($0.path), $0.node) }
      if await mayWrite(values, client) || lapse == .merge { write(values) } else { reply = denied }
    case .onDisconnectPut(let path, let node): reply = await keep([DatabasePathValue(path, node)], client)
    case .onDisconnectMerge(let path, let values):
      reply = await keep(values.map { DatabasePathValue(path.appending($0.path), $0.node) }, client)
    default: break
    }
    client.receive(.reply(id, reply))
  }

  private func keep(_ values: [DatabasePathValue], _ client: Client) async -> DatabaseReply {
    guard await mayWrite(values, client) || lapse == .endOfConnection else { return DatabaseReply(.permissionDenied) }
    ends.withLock { $0[ObjectIdentifier(client), default: []] += values }
    return .ok
  }

  private func write(_ values: [DatabasePathValue]) {
    root.withLock { root in root = values.reduce(root) { $0.setting($1.path, to: $1.node) } }
    for client in clients.withLock({ $0 }) {
      for listen in client.listens.withLock({ $0 }) {
        for value in values where listen.path.contains(value.path) {
          client.receive(.data(value.path, value.node, tag: listen.tag))
        }
      }
    }
  }

  private func askAgain(_ client: Client) async {
    for listen in client.listens.withLock({ $0 }) where !(await mayRead(listen.path, listen.spec, client)) {
      client.listens.withLock { $0.removeAll { $0 == listen } }
      client.receive(.listenRevoked(listen.path, listen.spec))
    }
  }

  fileprivate func close(_ client: Client) async {
    clients.withLock { $0.removeAll { $0 === client } }
    write(ends.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) } ?? [])
    client.receive(.closed(reason: "closed"))
  }
}
