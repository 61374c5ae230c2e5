import Foundation
import VestaCore
import VestaFirestore
import VestaFirestoreRemote
import VestaFirestoreService
import VestaSQLite
import VestaTransport

// Documents: live queries, batches, transactions, and writes that do not wait for a network.
@Sendable
func firestoreChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.remoteOptions("firestore"),
    libraries: [
      FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self, FirestoreRemoteLibrary.self,
      TransportLibrary.self,
    ])
  let db = Firestore.firestore()
  // Each run has a document, and its cities below it.
  let runs = db.collection("runs")
  let run = runs.document(guide.suffix)
  let cities = run.collection("cities")
  let earlier = guide.emulator == nil ? try await runs.getDocuments().count : 0
  if earlier > 0 { try guide.show("the documents of \(earlier) earlier runs are here", earlier < guide.run) }
  try await run.setData(["started": FieldValue.serverTimestamp()])

  // A live query as a stream: it prints the changes while the program continues to write.
  let changes = cities.order(by: "people").snapshots
  let watcher = Task { try await firstAdditions(3, in: changes, guide) }

  let batch = db.batch()
  batch.setData(["name": "Oslo", "people": 700_000], forDocument: cities.document("oslo"))
  batch.setData(["name": "Rome", "people": 2_800_000], forDocument: cities.document("rome"))
  batch.setData(["name": "Lima", "people": 10_000_000], forDocument: cities.document("lima"))
  try await batch.commit()
  let seen = try await watcher.value
  try guide.show("a live query saw the batch: \(seen)", seen == ["oslo", "rome", "lima"])

  let large = try await cities.whereField("people", isGreaterThan: 1_000_000)
    .order(by: "people", descending: true).getDocuments()
  let names = try large.documents.map { try $0.data(as: City.self).name }
  try guide.show("a query finds and orders documents, decoded: \(names)", names == ["Lima", "Rome"])

  try await withThrowingTaskGroup { group in
    for _ in 0..<8 {
      group.addTask {
        try await db.runTransaction { transaction in
          let oslo = try await transaction.document(cities.document("oslo"))
          let people = oslo.get("people") as? Int ?? 0
          transaction.updateData(["people": people + 1], forDocument: oslo.reference)
        }
      }
    }
    try await group.waitForAll()
  }
  let people = try await cities.document("oslo").getDocument().get("people") as? Int
  try guide.show("8 transactions at once on one document: nobody is lost", people == 700_008)

  try await db.disableNetwork()
  let write = try cities.document("bern").startSetData(["name": "Bern", "people": 134_000])
  try await write.localCommit()
  let pending = try await cities.document("bern").getDocument(source: .cache)
  try guide.show(
    "without a network a write is kept, and shown at once", pending.exists && pending.metadata.hasPendingWrites)
  try await db.enableNetwork()
  try await write.acknowledgement()
  let count = try await cities.count.getAggregation(source: .server).count.intValue
  try guide.show("with the network it is sent: \(count) cities at the backend", count == 4)
  await app.delete()
}

private struct City: Codable {
  var name: String
  var people: Int
}

private func firstAdditions(
  _ count: Int, in snapshots: AsyncThrowingStream<QuerySnapshot, any Error>, _ guide: Guide
) async throws -> [String] {
  var ids: [String] = []
  for try await snapshot in snapshots {
    for change in snapshot.documentChanges where change.type == .added {
      guide.note("added: \(change.document.documentID), \(change.document.get("people") ?? 0) people")
      ids.append(change.document.documentID)
    }
    if ids.count >= count { break }
  }
  return ids
}
