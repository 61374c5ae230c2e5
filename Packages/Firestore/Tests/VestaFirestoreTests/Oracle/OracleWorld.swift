import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaTesting

/// Two clients of one project, and what the documentation says that they see.
///
/// The first client is embedded. The second one is embedded too, or reaches the engine as a remote backend and keeps a
/// cache. One of them writes at a time, so that the order of all writes is known; a client that is offline has
/// documents that only it writes to.
final class OracleWorld {
  final class Client {
    let app: VestaApp
    let isEmbedded: Bool
    var db: Firestore
    var isOnline = true
    /// The writes that wait for the network, in batches.
    var queue: [[OracleWrite]] = []
    var listeners: [OracleListener] = []
    /// Whether pending writes may be shown on top of an earlier state of their documents than the backend's.
    var hasEstimates = false
    /// The backend's documents when the network was disabled, if all listeners showed them then.
    var shown: [String: OracleFields]?
    /// The documents that the client has changed without a network, and may have known in an earlier state then: its
    /// increments keep the number that they began with.
    var uncertain: Set<String> = []
    /// The documents of which updates were refused, and are taken back where they were shown.
    var refused: Set<String> = []

    init(app: VestaApp, isEmbedded: Bool) throws {
      self.app = app
      self.isEmbedded = isEmbedded
      db = try Firestore.instance(for: app)
    }

    /// The fields of a document that are known, which the number of an increment may not be.
    func certain(_ fields: OracleFields?, at path: String) -> OracleFields? {
      guard uncertain.contains(path), var fields else { return fields }
      fields["n"] = nil
      return fields
    }

    /// Notes an update that is refused, and taken back where it is shown.
    func refuse(_ path: String) {
      refused.insert(path)
      for listener in listeners { listener.ignoreStates(of: [path]) }
    }
  }

  let clients: [Client]
  var server: [String: OracleFields] = [:]
  var random: SplitMix
  var number: Int64 = 0
  /// The client that has written each document last.
  var writers: [String: Int] = [:]
  /// The steps so far, for the message of a failure.
  private(set) var history: [String] = []
  private(set) var faults: [String] = []

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    let isRemote = random.oneIn(2) || Wire.isAsked
    let first = try OracleApps.make(seed: seed)
    let second =
      try isRemote ? OracleApps.makeRemote(of: first, seed: seed) : OracleApps.makeSecond(of: first, seed: seed)
    clients = [
      try Client(app: first, isEmbedded: true), try Client(app: second, isEmbedded: !isRemote),
    ]
  }

  func close() async {
    for client in clients.reversed() { await client.app.delete() }
  }

  func log(_ text: String) { history.append(text) }

  func fault(_ text: String) {
    faults.append(text)
  }

  // MARK: Views of a client

  func local(_ client: Client) -> [String: OracleFields] {
    var documents = server
    for write in client.queue.joined() { documents[write.path] = write.apply(to: documents[write.path]) }
    return documents
  }

  /// The paths that a client may write to.
  func isFree(_ path: String, for index: Int) -> Bool {
    guard clients.contains(where: { !$0.isOnline }) else { return true }
    let owner = Int(path.utf8.last ?? 0) % 2
    // A client that is offline writes to its own documents, and the other one to the others.
    return owner == index
  }

  static let collections = ["rooms", "rooms", "halls/h/rooms"]

  func randomPath(for index: Int) -> String {
    while true {
      let path = random.pick(Self.collections) + "/d\(random.below(8))"
      if isFree(path, for: index) { return path }
    }
  }

  /// The fields of a document, without the values of server timestamps.
  static func fields(of document: DocumentSnapshot) -> OracleFields {
    var fields = (document.data() ?? [:]).compactMapValues(OracleValue.init(any:))
    fields["t"] = nil
    return fields
  }

  // MARK: Waiting

  /// Waits until all writes of the clients that are online have been answered.
  func flush() async throws {
    for client in clients where client.isOnline { try await client.db.waitForPendingWrites() }
  }

  /// Brings all clients online, and waits until everything is the same everywhere.
  func settle() async throws {
    for (index, client) in clients.enumerated() where !client.isOnline { try await setOnline(index, true) }
    try await flush()
    for client in clients {
      for listener in client.listeners { await converge(listener) }
    }
    for (index, client) in clients.enumerated() {
      for collection in Set(Self.collections).sorted() {
        let found = try await client.db.collection(collection).getDocuments(source: .server)
        let expected = OracleQuery(collection: collection).results(server)
        if found.documents.map(\.reference.path) != expected {
          fault("client \(index): the server has \(found.documents.map(\.reference.path)), not \(expected)")
        }
        for document in found.documents where Self.fields(of: document) != server[document.reference.path] {
          fault("client \(index): \(document.reference.path) is \(Self.fields(of: document)) at the server")
        }
      }
    }
  }

  private func converge(_ listener: OracleListener) async {
    await converge(listener, to: server, showsMetadata: listener.includesMetadata)
    check(listener)
  }

  /// Waits until the listeners of a client without a network show its writes, and the documents that take the place of
  /// results which they take out of a limit.
  ///
  /// They do not show the writes of the other client in between.
  func showOwnWrites(_ client: Client) async {
    guard !client.isOnline, client.isEmbedded, client.shown == server else { return }
    let documents = local(client)
    for listener in client.listeners { await converge(listener, to: documents, showsMetadata: false) }
  }

  private func converge(
    _ listener: OracleListener, to documents: [String: OracleFields], showsMetadata: Bool
  ) async {
    let expected = listener.query.results(documents)
    let isThere = await listener.wait { shown in
      shown.paths == expected && shown.paths.allSatisfy { shown.fields[$0] == documents[$0] }
        && (!showsMetadata || !shown.isFromCache && !shown.isPending)
    }
    guard !isThere else { return }
    let shown = listener.shown.map { "\($0)" } ?? "nothing"
    fault("\(listener.query) shows \(shown), not \(expected.map { ($0, documents[$0] ?? [:]) })")
  }

  func check(_ listener: OracleListener) {
    for text in listener.takeFaults() { fault("\(listener.query): \(text)") }
  }

  /// Notes the updates of a client without a network that are going to be refused.
  private func noteRefusals(of client: Client) {
    var documents = server
    for write in client.queue.joined() {
      if write.kind == .update, documents[write.path] == nil { client.refuse(write.path) }
      documents[write.path] = write.apply(to: documents[write.path])
    }
  }

  /// Enables or disables the network of a client, of which all listeners have converged before if that is wanted.
  func setOnline(_ index: Int, _ isOnline: Bool, converges: Bool = false) async throws {
    let client = clients[index]
    log("client \(index) \(isOnline ? "online" : "offline")")
    if isOnline {
      noteRefusals(of: client)
      try await client.db.enableNetwork()
      client.isOnline = true
      server = local(client)
      for write in client.queue.joined() { writers[write.path] = index }
      (client.queue, client.uncertain) = ([], [])
      try await client.db.waitForPendingWrites()
    } else {
      try await flush()
      client.shown = converges ? server : nil
      if client.shown != nil { for listener in client.listeners { await converge(listener) } }
      try await client.db.disableNetwork()
      client.isOnline = false
    }
  }
}
