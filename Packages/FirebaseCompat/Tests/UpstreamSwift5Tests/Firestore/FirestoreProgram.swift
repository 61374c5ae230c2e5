import FirebaseCore
import FirebaseFirestore
import Foundation

// A program as users of the Firebase SDK write it: completion handlers with what is optional left out, trailing
// closures, `as? [String: Any]` results, `switch` over error codes, and the asynchronous forms.

struct City: Codable, Equatable {
  @DocumentID var id: String?
  var name: String
  var state: String?
  var population: Int
  @ServerTimestamp var updated: Timestamp?
}

// Sound as @unchecked Sendable: used by one test at a time.
final class CityBook: @unchecked Sendable {
  let db: Firestore
  private var listener: ListenerRegistration?

  init(db: Firestore) { self.db = db }

  var cities: CollectionReference { db.collection("cities") }

  func fireAndForget() {
    cities.document("LA").setData(["name": "Los Angeles", "population": 3_900_000])
    cities.document("SF").setData(["name": "San Francisco", "capital": false] as [String: Any], merge: true)
    cities.document("SF").updateData(["population": FieldValue.increment(Int64(50)), "address.zip": "94101"])
    cities.document("gone").delete()
    let added = cities.addDocument(data: ["name": "Tokyo", "tags": ["a", "b"]])
    added.updateData(["tags": FieldValue.arrayUnion(["c"])]) { error in
      if let error = error { print("not updated: \(error)") }
    }
  }

  func batch(_ completion: @escaping @Sendable (Error?) -> Void) {
    let batch = db.batch()
    let newYork: [String: Any] = [
      "name": "New York", "population": 8_400_000, "updated": FieldValue.serverTimestamp(),
    ]
    batch.setData(newYork, forDocument: cities.document("NYC"))
    batch.updateData(["population": 860_000], forDocument: cities.document("SF"))
    batch.deleteDocument(cities.document("LA"))
    batch.commit { error in completion(error) }
  }

  func read(_ id: String, _ completion: @escaping @Sendable ([String: Any]?) -> Void) {
    cities.document(id).getDocument { document, error in
      if let document = document, document.exists {
        completion(document.data())
      } else {
        completion(nil)
      }
    }
  }

  func largest(_ completion: @escaping @Sendable ([String]) -> Void) {
    cities.whereField("population", isGreaterThan: 100_000)
      .order(by: "population", descending: true).limit(to: 3)
      .getDocuments { snapshot, error in
        guard let documents = snapshot?.documents else { return completion([]) }
        completion(documents.compactMap { $0.data()["name"] as? String })
      }
  }

  func listen(_ changes: @escaping @Sendable (DocumentChangeType, String) -> Void) {
    listener = cities.whereField("population", isGreaterThanOrEqualTo: 0)
      .addSnapshotListener { querySnapshot, error in
        guard let snapshot = querySnapshot else { return }
        snapshot.documentChanges.forEach { diff in
          switch diff.type {
          case .added: changes(.added, diff.document.documentID)
          case .modified: changes(.modified, diff.document.documentID)
          case .removed: changes(.removed, diff.document.documentID)
          }
        }
      }
  }

  func stop() {
    listener?.remove()
    listener = nil
  }

  func transfer(_ completion: @escaping @Sendable (Int?, Error?) -> Void) {
    let reference = cities.document("SF")
    db.runTransaction({ (transaction, errorPointer) -> Any? in
      let document: DocumentSnapshot
      do {
        try document = transaction.getDocument(reference)
      } catch let fetchError as NSError {
        errorPointer?.pointee = fetchError
        return nil
      }
      guard let old = document.data()?["population"] as? Int else {
        errorPointer?.pointee = NSError(domain: "AppErrorDomain", code: -1)
        return nil
      }
      transaction.updateData(["population": old + 1], forDocument: reference)
      return old + 1
    }) { object, error in
      completion(object as? Int, error)
    }
  }

  func updateMissing(_ completion: @escaping @Sendable (FirestoreErrorCode.Code?) -> Void) {
    cities.document("nowhere").updateData(["a": 1]) { error in
      guard let error = error as NSError?, error.domain == FirestoreErrorDomain else { return completion(nil) }
      switch FirestoreErrorCode.Code(rawValue: error.code) {
      case .notFound: completion(.notFound)
      case .some(let code): completion(code)
      case .none: completion(nil)
      }
    }
  }

  func modern() async throws -> [City] {
    try cities.document("B").setData(from: City(name: "Berlin", population: 3_700_000))
    try await db.waitForPendingWrites()
    let city = try await cities.document("B").getDocument(as: City.self)
    precondition(city.id == "B" && city.updated != nil)
    let filter = Filter.orFilter([
      Filter.whereField("name", isEqualTo: "Berlin"),
      Filter.andFilter([
        Filter.whereField("population", isGreaterOrEqualTo: 5_000_000), Filter.whereField("name", isNotEqualTo: "X"),
      ]),
    ])
    let snapshot = try await cities.whereFilter(filter).getDocuments(source: .server)
    let count = try await cities.count.getAggregation(source: .server).count.intValue
    precondition(count >= snapshot.count)
    return try snapshot.documents.map { try $0.data(as: City.self) }
  }

  func pages() async throws -> [String] {
    let first = try await cities.order(by: "population").limit(to: 2).getDocuments()
    guard let last = first.documents.last else { return [] }
    let next = try await cities.order(by: "population").start(afterDocument: last).limit(to: 2).getDocuments()
    return (first.documents + next.documents).map(\.documentID)
  }

  func increments() async throws -> Int? {
    let reference = cities.document("SF")
    let result = try await db.runTransaction { (transaction, errorPointer) -> Any? in
      guard let old = try? transaction.getDocument(reference).get("population") as? Int else { return nil }
      transaction.updateData(["population": old + 1], forDocument: reference)
      return old + 1
    }
    return result as? Int
  }
}
