import VestaFirestore
import VestaTesting

/// Listeners, the network, and restarts.
extension OracleWorld {
  func addListener(_ index: Int) {
    let client = clients[index]
    guard client.listeners.count < 4 else { return removeListener(index) }
    let query = OracleQuery.random(&random)
    log("client \(index) listens to \(query)")
    listen(client, query)
  }

  private func listen(_ client: Client, _ query: OracleQuery) {
    let listener = OracleListener(query, of: client.db, includesMetadata: random.oneIn(2))
    listener.ignoreStates(of: client.refused)
    client.listeners.append(listener)
  }

  func removeListener(_ index: Int) {
    let client = clients[index]
    guard !client.listeners.isEmpty else { return }
    let listener = client.listeners.remove(at: random.below(client.listeners.count))
    listener.remove()
    check(listener)
  }

  func changeNetwork(_ index: Int) async throws {
    // One of them at a time is offline.
    guard clients[1 - index].isOnline else { return }
    guard clients[index].isOnline, random.oneIn(2) else { return try await setOnline(index, !clients[index].isOnline) }
    try await workOffline(index)
  }

  /// A session without network, with lists of a few documents on the screen that writes leave and enter.
  private func workOffline(_ index: Int) async throws {
    let client = clients[index]
    while client.listeners.count < 4 {
      var query = OracleQuery(collection: random.pick(Self.collections))
      query.orders = [(random.pick(["seq", "a"]), random.oneIn(2))]
      query.limit = (1 + random.below(3), random.oneIn(3))
      log("client \(index) listens to \(query)")
      listen(client, query)
    }
    try await setOnline(index, false, converges: true)
    for _ in 0..<4 { try await write(index) }
    if random.oneIn(2) { try await setOnline(index, true) }
  }

  /// Ends the client, with its pending writes in its store, and begins again.
  func restart(_ index: Int) async throws {
    let client = clients[index]
    log("client \(index) restarts")
    if client.isOnline { try await flushOthers(index) }
    try await client.db.terminate()
    client.listeners = []
    client.db = try Firestore.instance(for: client.app)
    if !client.isOnline { try await client.db.disableNetwork() }
    if client.isOnline { try await client.db.waitForPendingWrites() }
  }
}
