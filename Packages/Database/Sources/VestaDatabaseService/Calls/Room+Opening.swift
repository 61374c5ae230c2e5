import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaServiceInterop
import VestaStoreInterop

/// The start of a database: the sessions that a crash has left behind, and the indexes that are declared.
extension Room {
  /// Readies the database.
  func prepare() async throws {
    guard !state.withLock({ $0.isPrepared }) else { return }
    let store = try await openStore()
    let lease = try options.sharing.lease(on: store, default: options.tuning.lease)
    context.sharing.lease = lease
    if let lease {
      try await SessionEnds(self).finishForeign(at: try await join(store, lease))
    } else {
      do {
        try await SessionEnds(self).finishAllForeign()
      } catch {
        log.error("I-RDS000005", "What connections have asked for their end waits until it can be written: \(error)")
      }
    }
    let isBuilding = try await declareIndexes(in: store)
    state.withLock { $0.isPrepared = true }
    if isBuilding { submit(.perform { [self] in await buildIndexes() }) }
  }

  // MARK: Indexes

  /// - Returns: Whether there are indexes that have to be built.
  private func declareIndexes(in store: any OrderedStore) async throws -> Bool {
    let (context, indexes) = (context, declared.current(for: context.namespace))
    let isBuilding = try await store.write { transaction -> Bool in
      // One small row, without which nothing could be removed.
      transaction.freesRoom()
      var catalog = try await IndexCatalog.intact(in: transaction, context)
      let removed = catalog.declare(indexes, keepsOthers: context.isShared)
      for number in removed {
        try await transaction.deleteRange(KeyRange(prefix: context.keys.index(.declared(number), below: .root)))
      }
      try await context.catalogs.write(catalog, transaction, context.keys)
      return catalog.isBuilding
    }.value
    state.withLock { $0.declared = indexes }
    return isBuilding
  }

  /// Declares the indexes of the rules that are in force now, and returns when they are declared.
  func declareIndexesAgain() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      submit(
        .perform { [self] in
          await redeclareIndexes()
          continuation.resume()
        })
    }
  }

  /// Declares other indexes than the ones that were declared last; one of the jobs.
  ///
  /// A database that is not ready yet declares them when it is.
  func redeclareIndexes() async {
    let (isPrepared, last) = state.withLock { ($0.isPrepared && !$0.isOver, $0.declared) }
    guard isPrepared, last != declared.current(for: context.namespace) else { return }
    do {
      if try await declareIndexes(in: try await openStore()) {
        submit(.perform { [self] in await buildIndexes() })
      }
    } catch {
      log.warning("I-RDS000013", "The indexes of the new rules are not declared: \(error)")
    }
  }

  /// One step of the indexes that are being built, then the requests of others, then the next step.
  private func buildIndexes() async {
    do {
      let (context, rows) = (context, options.tuning.stepRows)
      let isBuilding = try await openStore().write { transaction in
        try await IndexBuilder(transaction: transaction, context: context).step(rows: rows)
      }.value
      if isBuilding, !state.withLock({ $0.isOver }) { submit(.perform { [self] in await buildIndexes() }) }
    } catch {
      log.warning("I-RDS000001", "The indexes are not ready, and queries do without; tried again in a minute. \(error)")
      // The cursor is in the store.
      schedule(\.retry, after: options.tuning.indexRetry) { await $0.buildIndexes() }
    }
  }
}

extension IndexCatalog {
  /// The catalog of the indexes; where its row is damaged the indexes begin anew.
  fileprivate static func intact(
    in transaction: any StoreTransaction, _ context: RoomContext
  ) async throws -> IndexCatalog {
    do {
      return try await context.catalogs.read(transaction, context.keys)
    } catch let error as BytesError {
      log.error("I-RDS000009", "The list of the indexes is damaged, and they are built anew: \(error)")
      try await transaction.delete(context.keys.catalog())
      try await transaction.deleteRange(KeyRange(prefix: context.keys.declaredIndexes()))
      return IndexCatalog()
    }
  }
}

private let log = Logger(service: "VestaDatabaseService")
