import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// Reads without a connection.
extension Room {
  /// Reads once.
  func read(_ request: DatabaseReadRequest, _ caller: CallContext) async throws -> DatabaseReadResult {
    try await prepared()
    if let refusal = access.refusal(caller.user?.uid, request.path, request.spec) {
      throw DatabaseServiceError(refusal)
    }
    if request.depth == .keys, request.spec.index != .key, !request.spec.loadsAllData {
      throw DatabaseServiceError(.invalidArgument, "Keys alone are read in the order of keys.")
    }
    let (context, first) = (context, QueryReader.first(request.path, request.spec, context))
    reads.begin()
    defer { reads.end() }
    return try await LargeReads.read(try await openStore(), rows: options.tuning.rowsInPlace, expecting: first) {
      reader in
      guard try await options.guardAllows(caller, request.path, request.spec, reader, context) else {
        throw DatabaseServiceError(.permissionDenied, "Permission denied")
      }
      let queries = try await QueryReader(reader, context, for: [request.spec])
      if request.requiresIndex, try await context.lacksIndex(request, reader) {
        throw DatabaseServiceError(.failedPrecondition, "Index not defined, add \".indexOn\" to the rules.")
      }
      if request.depth == .keys {
        return DatabaseReadResult(
          try await queries.keys(request.path, request.spec, atATime: options.tuning.keysTogether))
      }
      let (node, lacksIndex) = try await queries.window(request.path, request.spec)
      return DatabaseReadResult(node, warnings: lacksIndex ? ["no_index"] : [])
    }
  }

  /// Readies the database, in the order of its jobs.
  private func prepared() async throws {
    if state.withLock({ $0.isPrepared }) { return }
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, any Error>, Never>) in
      submit(
        .perform { [self] in
          do {
            try await prepare()
            continuation.resume(returning: .success(()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        })
    }
    try outcome.get()
  }
}

extension RoomContext {
  /// Whether a query needs an index that is not declared; also one that reads all of a path in its order.
  fileprivate func lacksIndex(_ request: DatabaseReadRequest, _ reader: any StoreReader) async throws -> Bool {
    guard request.spec.index != .key, request.spec.index != .priority else { return false }
    return !(try await catalogs.read(reader, keys).declares(request.spec.index, at: request.path))
  }
}

extension QueryReader {
  /// The keys of the children of a query, each with the value `true`; a leaf as it is.
  ///
  /// No child is read: the next key is looked for after all rows of the one before.
  func keys(_ path: DatabasePath, _ spec: DatabaseQuerySpec, atATime count: Int) async throws -> DatabaseNode {
    if path.back?.isPriority == true { return try await tree.node(path) }
    if let leaf = try await tree.row(path)?.leaf { return DatabaseNode(leaf) }
    let mark = DatabaseNode(.bool(true))
    var found: [(DatabaseKey, DatabaseNode)] = []
    var last: DatabaseKey?
    while true {
      let keys = try await tree.childKeys(of: path, after: last, limit: count)
      for key in keys where spec.loadsAllData || spec.contains(key, mark) { found.append((key, mark)) }
      guard keys.count == count else { break }
      last = keys.last
      if let limit = spec.limit, limit.side == .first, found.count >= limit.count { break }
    }
    guard let limit = spec.limit else { return DatabaseNode(children: found) }
    return DatabaseNode(children: Array(limit.side == .first ? found.prefix(limit.count) : found.suffix(limit.count)))
  }
}
