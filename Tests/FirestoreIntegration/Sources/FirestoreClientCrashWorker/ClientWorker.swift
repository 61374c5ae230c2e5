import Foundation
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaSQLite
import VestaStoreInterop

/// Writes through clients until it is killed, or lets them settle and prints their data.
///
/// Usage: `FirestoreClientCrashWorker write|check remote|embedded <directory> <round>`. With `remote`, two apps with a
/// cache on disk share an engine that they take for a remote one; with `embedded`, one app has the engine in it.
///
/// Each write counts itself in a document that all share, and leaves a mark. `local <id>` is said after its local
/// commit, `ack <id>` after the engine's answer, and `refused <id>` after a write that the engine must refuse.
enum ClientWorker {
  static func run(_ arguments: [String]) async {
    guard arguments.count == 5, let round = Int(arguments[4]) else { exit(64) }
    // Where apps with a remote backend keep their caches.
    setenv("XDG_DATA_HOME", arguments[3], 1)
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached {
        let clients = try await clients(isEmbedded: arguments[2] == "embedded", in: arguments[3])
        say("ready")
        if arguments[1] == "write" {
          try await write(clients, round)
        } else {
          try await check(clients, round)
        }
      }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  private static func clients(isEmbedded: Bool, in directory: String) async throws -> [Firestore] {
    if isEmbedded {
      let options = VestaOptions(projectID: "demo", backend: .embedded(directory: URL(filePath: directory)))
      let libraries: [any Library.Type] = [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self]
      return [try Firestore.instance(for: VestaApp.configure(name: "one", options: options, libraries: libraries))]
    }
    let store = try await SQLiteStoreProvider().openStore(
      named: "firestore", in: directory + "/engine", options: StoreOptions())
    EngineLibrary.use(FirestoreEngine(store: store))
    return try ["one", "two"].map { name in
      let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 1))
      let libraries: [any Library.Type] = [FirestoreLibrary.self, EngineLibrary.self, SQLiteLibrary.self]
      return try Firestore.instance(for: VestaApp.configure(name: name, options: options, libraries: libraries))
    }
  }

  // MARK: Writing

  private static func write(_ clients: [Firestore], _ round: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, client) in clients.enumerated() {
        group.addTask { try await write(client, prefix: "\(round)-\(number)", round) }
      }
      try await group.waitForAll()
    }
  }

  private static func write(_ db: Firestore, prefix: String, _ round: Int) async throws {
    for turn in 0... {
      let isOffline = turn % 3 != 0
      if isOffline { try await db.disableNetwork() }
      var writes: [(id: String, write: PendingWrite)] = []
      for part in 0..<(turn % 13 + 1) {
        let id = "\(prefix)-\(turn)-\(part)"
        let batch = db.batch()
        batch.setData(["n": FieldValue.increment(Int64(1))], forDocument: db.document("counters/all"), merge: true)
        batch.setData(["round": round], forDocument: db.document("marks/\(id)"))
        writes.append((id, try batch.startCommit()))
      }
      for (id, write) in writes {
        try await write.localCommit()
        say("local \(id)")
      }
      if isOffline { try await db.enableNetwork() }
      for (id, write) in writes {
        try await write.acknowledgement()
        say("ack \(id)")
      }
      try await beRefused(db, "\(prefix)-\(turn)")
    }
  }

  /// Changes a document that does not exist, and then makes it: the change must not reappear.
  private static func beRefused(_ db: Firestore, _ id: String) async throws {
    let document = db.document("refused/\(id)")
    do {
      try await document.updateData(["changed": true])
      say("error: a change of a document that is not there was accepted")
    } catch let error as FirestoreErrorCode where error.code == .notFound {
      say("refused \(id)")
    }
    try await document.setData(["changed": false])
  }

  // MARK: Checking

  private static func check(_ clients: [Firestore], _ round: Int) async throws {
    for client in clients { try await client.waitForPendingWrites() }
    let db = clients[0]
    let count = try await db.document("counters/all").getDocument(source: .server).get("n") as? NSNumber
    say("counter \(count ?? 0)")
    let marks = db.collection("marks")
    say("marks \(try await marks.count.getAggregation(source: .server).count)")
    for mark in try await marks.whereField("round", isEqualTo: round).getDocuments(source: .server).documents {
      say("mark \(mark.documentID)")
    }
    let changed = db.collection("refused").whereField("changed", isEqualTo: true)
    for document in try await changed.getDocuments(source: .server).documents { say("changed \(document.documentID)") }
    say("done")
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
