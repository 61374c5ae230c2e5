import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreRemote
import VestaFirestoreService
import VestaMemoryStore
import VestaTransport

/// Apps whose documents are in memory: in the process, or at a server in another process.
enum DocumentApps {
  private static let made = Locked<[Bool: Firestore]>([:])

  static func app(_ name: String, _ backend: VestaOptions.Backend) throws -> VestaApp {
    try VestaApp.configure(
      name: name, options: VestaOptions(projectID: "bench", backend: backend),
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, FirestoreRemoteLibrary.self, MemoryStoreLibrary.self,
        TransportLibrary.self,
      ])
  }

  static func firestore(isRemote: Bool) throws -> Firestore {
    try made.withLock { made in
      if let db = made[isRemote] { return db }
      let directory = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-bench-\(UUID().uuidString)")
      let backend: VestaOptions.Backend =
        isRemote
        ? .emulator(host: "127.0.0.1", port: try RemoteServer.port()) : .embedded(directory: directory)
      let db = try Firestore.instance(for: app(isRemote ? "remote" : "embedded", backend))
      made[isRemote] = db
      return db
    }
  }
}

/// The lines of single calls; the limit is made of the figure of the engine in the process.
func documentBenchmarks() -> [Benchmark] {
  [
    line("remote-set", 500, "2.0x embedded + 100 us", { $0 * 2 + 100_000 }) { db, count in
      for number in 0..<count {
        try await db.document("sets/s\(number)").setData(["number": number, "name": "item"])
      }
    },
    line("remote-get", 1_000, "embedded + 100 us", { $0 + 100_000 }) { db, count in
      for number in 0..<count {
        let document = try await db.document("items/i\(number & 63)").getDocument(source: .server)
        guard document.exists else { preconditionFailure("missing") }
      }
    },
    line("remote-first-snapshot", 500, "embedded + 300 us", { $0 + 300_000 }) { db, count in
      for number in 0..<count { try await firstSnapshot(of: db.document("items/i\(number & 63)")) }
    },
  ]
}

private func line(
  _ name: String, _ count: Int, _ label: String, _ limit: @escaping @Sendable (Double) -> Double,
  _ body: @escaping @Sendable (Firestore, Int) async throws -> Void
) -> Benchmark {
  let run = { @Sendable (isRemote: Bool) async throws -> Double in
    let db = try DocumentApps.firestore(isRemote: isRemote)
    try await fill(db)
    try await body(db, count / 10)
    let clock = ContinuousClock(), start = clock.now
    try await body(db, count)
    return (clock.now - start) / .nanoseconds(1) / Double(count)
  }
  return Benchmark(
    name: name, unit: .microseconds, bar: .ratio(atMost: 1),
    ours: ("remote", figure { try await run(true) }), other: (label, figure { limit(try await run(false)) }))
}

private let filled = Locked<Set<ObjectIdentifier>>([])

private func fill(_ db: Firestore) async throws {
  guard filled.withLock({ $0.insert(ObjectIdentifier(db)).inserted }) else { return }
  for number in 0..<64 { try await db.document("items/i\(number)").setData(["number": number, "name": "item"]) }
}

/// Listens until the service has sent the document.
private func firstSnapshot(of document: DocumentReference) async throws {
  let registration = Locked<(any VestaFirestore.ListenerRegistration)?>(nil)
  await withCheckedContinuation { continuation in
    let isOver = Locked(false)
    let made = document.addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
      guard let snapshot, !snapshot.metadata.isFromCache else { return }
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      if isFirst { continuation.resume() }
    }
    registration.withLock { $0 = made }
  }
  registration.withLock { $0 }?.remove()
}
