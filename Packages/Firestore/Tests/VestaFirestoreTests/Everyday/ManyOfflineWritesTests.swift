import Testing
import VestaCore
import VestaFirestore
import VestaTesting

/// Many writes that wait for the network, one after the other, with a limited listener to their documents.
@Suite(.timeLimit(.minutes(15)))
struct ManyOfflineWritesTests {
  static func run(_ count: Int, isRemote: Bool) async throws {
    let first = try OracleApps.make(seed: 1)
    let app = isRemote ? try OracleApps.makeRemote(of: first, seed: 1) : first
    let db = try Firestore.instance(for: app)
    let items = db.collection("items")
    for number in 0..<20 { try await items.document("i\(number)").setData(["n": -1, "text": "kept"]) }
    let shown = Log<[Int]>()
    let registration = items.order(by: "n", descending: true).limit(to: 3).addSnapshotListener { snapshot, _ in
      if let snapshot { shown.add(snapshot.documents.map { $0.get("n") as? Int ?? 0 }) }
    }
    await shown.wait(for: 1)
    try await db.disableNetwork()
    for number in 0..<count { items.document("i\(number % 20)").setData(["n": number], merge: true, completion: nil) }
    await shown.wait(until: { $0.last == [count - 1, count - 2, count - 3] })
    try await db.enableNetwork()
    try await db.waitForPendingWrites()
    let found = try await items.order(by: "n").getDocuments(source: .server).documents
    #expect(found.map { $0.get("n") as? Int } == Array(count - 20..<count))
    #expect(found.allSatisfy { $0.get("text") as? String == "kept" })
    registration.remove()
    if isRemote { await app.delete() }
    await first.delete()
  }

  @Test(arguments: [false, true]) func `hundreds of writes are applied in order`(isRemote: Bool) async throws {
    try await Self.run(400, isRemote: isRemote)
  }
}

/// The same with as many as a program may write in a day without a network.
@Suite(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
struct ManyOfflineWritesSoakTests {
  @Test(arguments: [false, true]) func `ten thousand writes are applied in order`(isRemote: Bool) async throws {
    try await ManyOfflineWritesTests.run(10_000, isRemote: isRemote)
  }
}
