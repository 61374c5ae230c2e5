import VestaConcurrency
public import VestaServiceInterop

extension DatabaseBackend {
  /// Reads by a connection for this call alone, for services that have nothing cheaper.
  ///
  /// It reads whole nodes at every depth.
  public func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    let reply = try await replyOnce(to: .get(request.path, request.spec), in: request.namespace, context: context)
    if request.requiresIndex, reply.warnings.contains("no_index") {
      throw DatabaseServiceError(.failedPrecondition, "Index not defined, add \".indexOn\" to the rules.")
    }
    guard request.depth == .keys, reply.node.leaf == nil else {
      return DatabaseReadResult(reply.node, warnings: reply.warnings)
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    reply.node.forEachChild { key, _ in children.append((key, DatabaseNode(.bool(true)))) }
    return DatabaseReadResult(DatabaseNode(children: children), warnings: reply.warnings)
  }

  /// Writes by a connection for this call alone, as ``replyOnce(to:in:context:)`` says.
  public func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    try await replyOnce(to: request.request, in: request.namespace, context: context).node
  }

  /// The reply to one request of a connection that then ends.
  ///
  /// Why a connection is not opened is not known: that is `UNAVAILABLE`, also for a credential that is not valid.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - namespace: The database.
  ///   - context: The caller.
  /// - Throws: `DatabaseServiceError` for a reply that is not `ok`.
  public func replyOnce(
    to request: DatabaseRequest, in namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReply {
    let promise = ReplyPromise()
    let opening = DatabaseConnectRequest(namespace: namespace, context: context, wantsNodes: true)
    let connection = connect(opening) { promise.receive($0) }
    connection.send(request, id: 1)
    defer { connection.close() }
    let reply = await withTaskCancellationHandler {
      await promise.reply()
    } onCancel: {
      promise.receive(.closed(reason: "The call was cancelled."))
    }
    guard reply.status == .ok else {
      if Task.isCancelled, reply.status == .unavailable { throw DatabaseServiceError(.cancelled, reply.message) }
      throw DatabaseServiceError(reply)
    }
    return reply
  }
}

/// The one reply that a call waits for.
private final class ReplyPromise: Sendable {
  private struct State {
    var reply: DatabaseReply?
    var waiting: CheckedContinuation<DatabaseReply, Never>?
  }

  private let state = Locked(State())

  func receive(_ message: DatabaseServerMessage) {
    let reply: DatabaseReply
    switch message {
    case .reply(_, let own): reply = own
    case .closed(let reason), .failed(let reason), .shutdown(let reason):
      reply = DatabaseReply(.unavailable, message: reason)
    default: return
    }
    let waiting = state.withLock { state -> CheckedContinuation<DatabaseReply, Never>? in
      guard state.reply == nil else { return nil }
      state.reply = reply
      return state.waiting.take()
    }
    waiting?.resume(returning: reply)
  }

  func reply() async -> DatabaseReply {
    await withCheckedContinuation { continuation in
      let reply = state.withLock { state in
        if state.reply == nil { state.waiting = continuation }
        return state.reply
      }
      if let reply { continuation.resume(returning: reply) }
    }
  }
}
