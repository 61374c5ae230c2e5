import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaTesting

/// Programs in upstream's idiom against the embedded engine.
@Suite(.timeLimit(.minutes(15)))
struct FirestoreTests {
  let app: VestaApp
  let db: Firestore

  init() throws {
    app = try makeApp()
    db = try Firestore.instance(for: app)
  }

  struct City: Codable, Equatable {
    @DocumentID var id: String?
    var name: String
    var population: Int
  }

  @Test func `what was set is read, from the backend and from the cache`() async throws {
    let berlin = db.collection("cities").document("berlin")
    try await berlin.setData(["name": "Berlin", "population": 3_700_000])
    let snapshot = try await berlin.getDocument()
    #expect(snapshot.exists)
    #expect(snapshot.data()?["name"] as? String == "Berlin")
    #expect((snapshot.get("population") as? NSNumber)?.intValue == 3_700_000)
    #expect(!snapshot.metadata.isFromCache)
    #expect(try await berlin.getDocument(source: .cache).metadata.isFromCache)
    #expect(try await !db.document("cities/none").getDocument().exists)
    await app.delete()
  }

  @Test func `models are written and read with the document's id`() async throws {
    let reference = try await db.collection("cities").addDocument(data: ["name": "Bonn", "population": 330_000])
    let city = try await reference.getDocument(as: City.self)
    #expect(city == City(id: reference.documentID, name: "Bonn", population: 330_000))
    try reference.setData(from: City(id: nil, name: "Bonn", population: 1))
    #expect(try await reference.getDocument(as: City.self).population == 1)
    await app.delete()
  }

  struct Note: Codable {
    var text: String
    @ServerTimestamp var sent: Date?
    @ExplicitNull var reader: String?
  }

  @Test func `a pending server timestamp decodes to nil and the backend's to its date`() async throws {
    let note = db.document("notes/a")
    try await db.disableNetwork()
    let encoder = Firestore.Encoder()
    let write = try note.startSetData(encoder.encode(Note(text: "t", sent: nil, reader: nil)))
    try await write.localCommit()
    let pending = try await note.getDocument(as: Note.self, source: .cache)
    #expect(pending.sent == nil)
    #expect(pending.reader == nil)
    try await db.enableNetwork()
    try await write.acknowledgement()
    #expect(try await note.getDocument(as: Note.self).sent != nil)
    await app.delete()
  }

  @Test func `queries filter, order, limit and count`() async throws {
    let cities = db.collection("cities")
    for (id, size) in [("a", 5), ("b", 3), ("c", 9), ("d", 7)] { try await cities.document(id).setData(["size": size]) }
    let large = try await cities.whereField("size", isGreaterThan: 4).order(by: "size", descending: true).getDocuments()
    #expect(large.documents.map(\.documentID) == ["c", "d", "a"])
    let last = try await cities.order(by: "size").limit(toLast: 2).getDocuments()
    #expect(last.documents.map(\.documentID) == ["d", "c"])
    #expect(try await cities.order(by: "size").start(after: [5]).getDocuments().count == 2)
    let either = Filter.orFilter([
      Filter.whereField("size", isEqualTo: 3), Filter.whereField("size", isGreaterOrEqualTo: 9),
    ])
    #expect(try await cities.whereFilter(either).getDocuments().documents.map(\.documentID) == ["b", "c"])
    let figures = try await cities.aggregate([.count(), .sum("size")]).getAggregation(source: .server)
    #expect(figures.count == 4)
    #expect((figures.get(.sum("size")) as? NSNumber)?.intValue == 24)
    await app.delete()
  }

  @Test func `a stream shows local writes at once and ends with its loop`() async throws {
    let cities = db.collection("cities")
    var counts: [Int] = []
    for try await snapshot in cities.snapshots {
      counts.append(snapshot.count)
      if counts.count == 1 { _ = try cities.document("a").startSetData(["n": 1]) }
      if snapshot.count == 1 { break }
    }
    #expect(counts == [0, 1])
    await app.delete()
  }

  @Test func `a stream of a document follows it until it is deleted`() async throws {
    let document = db.document("cities/a")
    try await document.setData(["n": 1])
    var seen: [Int?] = []
    for try await snapshot in document.snapshots {
      let number = (snapshot.get("n") as? NSNumber)?.intValue
      if seen.last != number || seen.isEmpty { seen.append(number) }
      if number == 1 { try await document.updateData(["n": 2]) }
      if number == 2 { try await document.delete() }
      if !snapshot.exists { break }
    }
    #expect(seen == [1, 2, nil])
    await app.delete()
  }

  @Test func `a cancelled task ends its stream`() async throws {
    let cities = db.collection("cities")
    let began = Gate()
    let task = Task {
      var count = 0
      for try await _ in cities.snapshots {
        count += 1
        began.open()
      }
      return count
    }
    await began.wait()
    task.cancel()
    #expect(try await task.value == 1)
    await app.delete()
  }

  @Test func `counters of many transactions do not lose an increment`() async throws {
    let counter = db.document("counters/c")
    try await counter.setData(["n": 0])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [db] in
          _ = try await db.runTransaction(with: options(100)) { transaction in
            let snapshot = try await transaction.document(counter)
            let number = (snapshot.get("n") as? NSNumber)?.intValue ?? 0
            transaction.updateData(["n": number + 1], forDocument: counter)
            return number
          }
        }
      }
      try await group.waitForAll()
    }
    #expect((try await counter.getDocument().get("n") as? NSNumber)?.intValue == 4)
    await app.delete()
  }

  @Test func `a batch is written as one and increments add up`() async throws {
    let (a, b) = (db.document("c/a"), db.document("c/b"))
    let batch = db.batch()
    batch.setData(["n": 1], forDocument: a)
    batch.setData(["n": 2, "at": FieldValue.serverTimestamp()], forDocument: b)
    try await batch.commit()
    try await a.updateData(["n": FieldValue.increment(Int64(4))])
    #expect((try await a.getDocument().get("n") as? NSNumber)?.intValue == 5)
    #expect(try await b.getDocument().get("at") is Timestamp)
    await app.delete()
  }

  @Test func `an update of a missing document fails with the service's code`() async throws {
    let error = await #expect(throws: FirestoreErrorCode.self) { try await db.document("c/none").updateData(["n": 1]) }
    #expect(error?.code == .notFound)
    await app.delete()
  }

  @Test func `offline a write is pending, shown with estimates, and sent later`() async throws {
    let document = db.document("c/a")
    try await db.disableNetwork()
    let write = try document.startSetData(["at": FieldValue.serverTimestamp(), "n": 1])
    try await write.localCommit()
    let cached = try await document.getDocument(source: .cache)
    #expect(cached.metadata.hasPendingWrites)
    #expect(cached.get("at") is NSNull)
    #expect(cached.data(with: .estimate)?["at"] is Timestamp)
    try await db.enableNetwork()
    try await db.waitForPendingWrites()
    #expect(try await document.getDocument().get("at") is Timestamp)
    await app.delete()
  }

  @Test func `completion handlers and listeners are called on the queue of the settings`() async throws {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "callbacks")
    queue.setSpecific(key: key, value: true)
    let settings = db.settings
    settings.dispatchQueue = queue
    db.settings = settings
    let isOnQueue = await withCheckedContinuation { continuation in
      db.document("c/a").setData(["n": 1]) { _ in
        continuation.resume(returning: DispatchQueue.getSpecific(key: key) ?? false)
      }
    }
    #expect(isOnQueue)
    await app.delete()
  }

  @Test func `a listener for snapshots in sync is notified at once, on the queue of the settings`() async throws {
    let queue = DispatchQueue(label: "callbacks")
    let settings = db.settings
    settings.dispatchQueue = queue
    db.settings = settings
    let count = Locked(0)
    let registration = db.addSnapshotsInSyncListener {
      dispatchPrecondition(condition: .onQueue(queue))
      count.withLock { $0 += 1 }
    }
    // The client calls its listeners in the order of their registration.
    for await _ in db.snapshotsInSync { break }
    queue.sync {}
    #expect(count.withLock { $0 } == 1)
    registration.remove()
    await app.delete()
  }

  @Test func `only a document that exists has pending writes, until the backend accepts them`() async throws {
    let document = db.document("c/a")
    try await document.setData(["n": 1])
    #expect(try await !document.getDocument().metadata.hasPendingWrites)
    try await db.disableNetwork()
    try await document.startSetData(["n": 2]).localCommit()
    #expect(try await document.getDocument(source: .cache).metadata.hasPendingWrites)
    try await document.startDelete().localCommit()
    let deleted = try await document.getDocument(source: .cache)
    #expect(!deleted.exists)
    #expect(!deleted.metadata.hasPendingWrites)
    await app.delete()
  }

  @Test func `databases of an app know nothing of each other`() async throws {
    let other = try Firestore.instance(for: app, database: "other")
    try await db.document("c/a").setData(["n": 1])
    try await other.document("c/b").setData(["n": 2])
    #expect(try await !other.document("c/a").getDocument().exists)
    #expect(try Firestore.instance(for: app, database: "other") === other)
    await app.delete()
  }

  @Test func `bundles bring documents and named queries`() async throws {
    func element(_ json: String) -> String { "\(json.utf8.count)\(json)" }
    let root = "projects/demo/databases/(default)/documents"
    let time = "2020-01-01T00:00:00.000000Z"
    let body =
      element(
        #"{"namedQuery":{"name":"all","readTime":"\#(time)","bundledQuery":{"parent":"\#(root)","structuredQuery":{"from":[{"collectionId":"c"}]}}}}"#
      )
      + element(#"{"documentMetadata":{"name":"\#(root)/c/a","readTime":"\#(time)","exists":true,"queries":["all"]}}"#)
      + element(
        #"{"document":{"name":"\#(root)/c/a","createTime":"\#(time)","updateTime":"\#(time)","fields":{"n":{"integerValue":"1"}}}}"#
      )
    let metadata =
      #"{"metadata":{"id":"b","createTime":"\#(time)","version":1,"totalDocuments":1,"totalBytes":\#(body.utf8.count)}}"#
    let progress = try await db.loadBundle(Data((element(metadata) + body).utf8))
    #expect(progress.state == .success)
    #expect(progress.documentsLoaded == 1)
    #expect(await db.getQuery(named: "all") != nil)
    #expect(await db.getQuery(named: "none") == nil)
    await #expect(throws: FirestoreErrorCode.self) { try await db.loadBundle(Data("3{}".utf8)) }
    await app.delete()
  }

  @Test func `after terminate every call fails and a new app finds what was written`() async throws {
    try await db.document("c/a").setData(["n": 1])
    try await db.terminate()
    await #expect(throws: FirestoreErrorCode.self) { try await db.document("c/a").getDocument() }
    try await db.clearPersistence()
    await app.delete()
  }
}

private func options(_ attempts: Int) -> TransactionOptions {
  let options = TransactionOptions()
  options.maxAttempts = attempts
  return options
}
