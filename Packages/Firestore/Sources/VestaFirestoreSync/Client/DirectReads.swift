import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// Reads from an engine in this process: on the calling task, without the watch stream.
///
/// The engine's document gets the pending writes on top. Most of the time there are none, and a read is one call.
///
/// Engine and queue are two sources, and a write moves from one to the other: when it is committed and answered
/// between two looks, the engine was looked at before it had the write, and the queue after. So the queue is looked
/// at first. A write that is pending then is shown, whatever happens in between; one that was answered before is in
/// the engine. When a write is answered in between the read begins again, so that it is not shown as pending; after
/// some attempts it is.
///
/// Worked example: `rooms/a` is `{n: 4}` in the engine, and `{n: 5}` is pending. The queue is looked at, then the
/// engine is read: 4, shown as 5 with a pending write. If the write was answered in between, both are looked at again:
/// 5, without.
struct DirectReads: Sendable {
  /// Looks at the pending writes after the events that wait.
  typealias Pending = (@escaping @Sendable (PendingWrites) -> PendingOverlays) async throws -> PendingOverlays

  let calls: BackendCalls
  /// How often a read begins again, and once more.
  let attempts: Int
  let state: Locked<SyncClient.State>

  /// A document as the engine has it now, with the pending writes on top.
  func document(_ path: ResourcePath, _ pending: Pending) async throws -> CachedDocument {
    try await reading(pending) {
      $0.pending(at: path)
    } read: { pending in
      pending.overlaid(try await calls.document(at: path))
    }
  }

  /// The results as the engine has them now, with the pending writes on top.
  func results(of query: LocalQuery, isFromCache: Bool, _ pending: Pending) async throws -> ViewSnapshot {
    if query.isDocument {
      return ViewSnapshot(query, documents: [try await document(query.path, pending)], isFromCache: isFromCache)
    }
    return try await reading(pending) {
      $0.pending(in: query)
    } read: { pending in
      let documents = try await calls.results(of: query, overlaid: pending.keys)
      let shown = pending.isEmpty ? documents : documents.map(pending.overlaid)
      return ViewSnapshot(query, documents: shown, isFromCache: isFromCache)
    }
  }

  private func reading<Result>(
    _ pending: Pending, look: @escaping @Sendable (PendingWrites) -> PendingOverlays,
    read: (PendingOverlays) async throws -> Result
  ) async throws -> Result {
    var left = max(1, attempts)
    while true {
      let before = try await pending(look)
      let result = try await read(before)
      left -= 1
      if before.isEmpty || left == 0 { return result }
      let isCurrent = state.withLock { state in
        state.machine.map { before.isPending(in: $0.local.shown.writes) } ?? true
      }
      if isCurrent { return result }
    }
  }
}

extension BackendCalls {
  /// The results of an engine in their order, and its documents that have pending writes.
  ///
  /// - Parameter spare: How many more results than the limit allows.
  func results(
    of query: LocalQuery, overlaid: [DocumentKey], spare: Int = 0
  ) async throws -> [CachedDocument] {
    var target = query.target.structured
    // Each pending write can push one result out of the limit.
    if let limit = target.limit { target.limit = Int32(clamping: Int(limit) + overlaid.count + spare) }
    var documents = try await results(query.target.parent, target)
    guard !overlaid.isEmpty else { return documents }
    let found = Set(documents.map(\.path))
    let missing = overlaid.filter { !found.contains($0) }
    if !missing.isEmpty { documents += try await self.documents(at: missing) }
    return documents
  }
}
