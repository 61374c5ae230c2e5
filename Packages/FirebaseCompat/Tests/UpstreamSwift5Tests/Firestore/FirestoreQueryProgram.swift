// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseFirestore
import Foundation

// A program as users of the Firebase SDK write it: settings, cursors, filters, groups of collections, listeners with
// options, aggregates and typed documents.

struct Restaurant: Codable, Equatable {
  @DocumentID var id: String?
  var name: String
  var category: String
  var location: GeoPoint
  var opened: Date
  var price: Int
  var rating: Double
  var tags: [String]
  @ExplicitNull var owner: String?
  var parent: DocumentReference?
  @ServerTimestamp var created: Date?

  enum CodingKeys: String, CodingKey {
    case id, name, category, location, opened, price, rating, tags, owner, parent
    case created = "created_at"
  }
}

// Sound as @unchecked Sendable: used by one test at a time.
final class RestaurantBook: @unchecked Sendable {
  let db: Firestore
  private var listeners: [ListenerRegistration] = []

  init(db: Firestore) {
    self.db = db
    let settings = FirestoreSettings()
    settings.dispatchQueue = DispatchQueue(label: "restaurants")
    // Use persistent disk cache, with 100 MB cache size
    settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)
    db.settings = settings
    db.persistentCacheIndexManager?.enableIndexAutoCreation()
  }

  var restaurants: CollectionReference { db.collection("restaurants") }

  func seed(_ all: [Restaurant], _ completion: @escaping @Sendable (Error?) -> Void) {
    let batch = db.batch()
    do {
      for restaurant in all {
        try batch.setData(from: restaurant, forDocument: restaurants.document(restaurant.name))
      }
    } catch {
      return completion(error)
    }
    batch.commit { error in completion(error) }
  }

  func page(_ completion: @escaping @Sendable ([String], [String]) -> Void) {
    let first = restaurants.order(by: "rating", descending: true).limit(to: 2)
    first.getDocuments { snapshot, error in
      guard let snapshot = snapshot, let last = snapshot.documents.last else { return completion([], []) }
      let names = snapshot.documents.map { $0.documentID }
      let next = self.restaurants.order(by: "rating", descending: true).start(afterDocument: last)
      next.getDocuments(source: .server) { rest, error in
        completion(names, rest?.documents.map { $0.documentID } ?? [])
      }
    }
  }

  func between(_ low: Double, _ high: Double) async throws -> [String] {
    let query = restaurants.order(by: "rating").start(at: [low]).end(before: [high])
    let reversed = try await query.limit(toLast: 1).getDocuments()
    return try await query.getDocuments().documents.map(\.documentID) + reversed.documents.map(\.documentID)
  }

  func filtered(_ completion: @escaping @Sendable (Set<String>) -> Void) {
    restaurants.whereFilter(
      Filter.andFilter([
        Filter.whereField("price", isLessThan: 4),
        Filter.orFilter([
          Filter.whereField("category", in: ["Sushi", "Ramen"]),
          Filter.whereField(FieldPath(["tags"]), arrayContains: "terrace"),
        ]),
      ])
    ).getDocuments { querySnapshot, error in
      if let error = error {
        print("Error getting documents: \(error)")
      } else {
        completion(Set(querySnapshot!.documents.map { $0.documentID }))
      }
    }
  }

  func simple() async throws -> [Int] {
    var counts: [Int] = []
    for query in [
      restaurants.whereField("category", isNotEqualTo: "Sushi"),
      restaurants.whereField("category", notIn: ["Sushi", "Ramen"]),
      restaurants.whereField("tags", arrayContainsAny: ["terrace", "vegan"]),
      restaurants.whereField(FieldPath.documentID(), isEqualTo: "Ando"),
      restaurants.whereField("price", isLessThanOrEqualTo: 2),
    ] {
      counts.append(try await query.getDocuments().count)
    }
    return counts
  }

  func review(_ restaurant: String, by author: String, _ stars: Int) async throws -> String {
    let review = restaurants.document(restaurant).collection("reviews").document()
    _ = try await db.runTransaction({ (transaction, errorPointer) -> Any? in
      let document: DocumentSnapshot
      do {
        try document = transaction.getDocument(self.restaurants.document(restaurant))
      } catch {
        errorPointer?.pointee = error as NSError
        return nil
      }
      let old = document.data()?["rating"] as? Double ?? 0
      transaction.setData(["stars": stars, "author": ["name": author]], forDocument: review)
      transaction.updateData(
        ["rating": (old + Double(stars)) / 2, "reviewed": FieldValue.serverTimestamp()],
        forDocument: document.reference)
      return nil
    })
    return review.path
  }

  func reviews(by author: String, _ completion: @escaping @Sendable (Int) -> Void) {
    db.collectionGroup("reviews").whereField(FieldPath(["author", "name"]), isEqualTo: author)
      .getDocuments { snapshot, error in completion(snapshot?.count ?? -1) }
  }

  func aggregates(_ completion: @escaping @Sendable (Int, Double) -> Void) {
    let query = restaurants.aggregate([AggregateField.sum("price"), AggregateField.average("price")])
    query.getAggregation(source: .server) { snapshot, error in
      guard let snapshot = snapshot else { return completion(-1, -1) }
      let sum = snapshot.get(AggregateField.sum("price")) as? Int
      completion(sum ?? -1, snapshot.get(AggregateField.average("price")) as? Double ?? -1)
    }
  }

  func watch(_ name: String, _ seen: @escaping @Sendable (String, Bool) -> Void) {
    let listener = restaurants.document(name)
      .addSnapshotListener(includeMetadataChanges: true) { documentSnapshot, error in
        guard let document = documentSnapshot else {
          print("Error fetching document: \(error!)")
          return
        }
        let source = document.metadata.hasPendingWrites ? "Local" : "Server"
        seen(source, document.exists)
      }
    let options = SnapshotListenOptions().withSource(.cache).withIncludeMetadataChanges(true)
    let cached = restaurants.addSnapshotListener(options: options) { snapshot, error in }
    listeners = [listener, cached, db.addSnapshotsInSyncListener { print("Snapshots are in sync.") }]
  }

  func stop() {
    for listener in listeners { listener.remove() }
    listeners = []
  }

  func values(_ name: String) async throws -> [String] {
    let reference = restaurants.document(name)
    try await reference.updateData([
      "tags": FieldValue.arrayRemove(["terrace"]), "price": FieldValue.increment(Int64(1)),
      "category": FieldValue.delete(), "embedding": FieldValue.vector([1.0, 2.0]),
      "visited": Timestamp(date: Date(timeIntervalSince1970: 5)), FieldPath(["a.b", "c"]): "deep",
    ])
    let snapshot = try await reference.getDocument()
    let place = snapshot["location"] as? GeoPoint
    let vector = snapshot.get("embedding") as? VectorValue
    return [
      "\(snapshot.get("tags") as? [String] ?? [])", "\(snapshot.get("price") as? Int ?? -1)",
      "\(snapshot.get("category") == nil)", "\(place?.latitude ?? -1)", "\(vector?.array ?? [])",
      "\((snapshot["visited"] as? Timestamp)?.seconds ?? -1)",
      "\((snapshot.data()?["a.b"] as? [String: Any])?["c"] as? String ?? "none")",
      "\(snapshot.data(with: .estimate)?["owner"] is NSNull)",
    ]
  }

  func merged() async throws -> [String: Any]? {
    let reference = restaurants.document("merged")
    try await reference.setData(["a": 1, "nested": ["x": 1, "y": 2]])
    try await reference.setData(["b": 2, "nested": ["x": 3]], merge: true)
    try await reference.setData(["a": 9, "b": 9], mergeFields: ["a"])
    return try await reference.getDocument(source: .server).data()
  }

  func offline(_ completion: @escaping @Sendable (Bool, Bool) -> Void) {
    db.disableNetwork { error in
      self.restaurants.document("offline").setData(["name": "Offline"])
      self.restaurants.document("offline").getDocument(source: .cache) { document, error in
        let isPending = document?.metadata.hasPendingWrites ?? false
        self.db.enableNetwork { error in
          self.db.waitForPendingWrites { error in completion(isPending, error == nil) }
        }
      }
    }
  }

  func stream() async throws -> [String] {
    for try await snapshot in restaurants.whereField("price", isGreaterThan: 0).snapshots {
      return snapshot.documents.compactMap { try? $0.data(as: Restaurant.self) }.map(\.name)
    }
    return []
  }

  func failures() async -> [String] {
    var outcomes: [String] = []
    do {
      try await restaurants.document("absent").updateData(["a": 1])
    } catch FirestoreErrorCode.notFound {
      outcomes.append("not found")
    } catch {
      outcomes.append("\(error)")
    }
    do {
      _ = try await restaurants.document("absent").getDocument(as: Restaurant.self)
    } catch is DecodingError {
      outcomes.append("not decoded")
    } catch {
      let error = error as NSError
      outcomes.append("\(error.domain == FirestoreErrorDomain ? "Firestore" : error.domain)")
    }
    do {
      let document = try await restaurants.document("never read").getDocument(source: .cache)
      outcomes.append(document.exists ? "there" : "absent")
    } catch {
      switch FirestoreErrorCode.Code(rawValue: (error as NSError).code) {
      case .unavailable?: outcomes.append("unavailable")
      default: outcomes.append("\(error)")
      }
    }
    return outcomes
  }
}
