// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseDatabase
import Foundation

// A program as users of the Firebase SDK write it: work without a connection, several databases, transactions that are
// given up, events with the key of the sibling before.

struct Score: Codable, Equatable {
  var name: String
  var points: Int
  var badges: [String]?
  @ServerTimestamp var updated: Date?
}

// Sound as @unchecked Sendable: used by one test at a time.
final class ScoreModel: @unchecked Sendable {
  let database: Database
  let scoresRef: DatabaseReference

  init(app: FirebaseApp) {
    database = Database.database(app: app)
    database.isPersistenceEnabled = true
    database.persistenceCacheSizeBytes = 50 * 1024 * 1024
    scoresRef = database.reference(withPath: "scores")
    scoresRef.keepSynced(true)
  }

  func connection(_ completion: @escaping @Sendable (Bool) -> Void) {
    let connectedRef = database.reference(withPath: ".info/connected")
    var handle: DatabaseHandle = 0
    handle = connectedRef.observe(
      .value,
      with: { snapshot in
        if snapshot.value as? Bool ?? false {
          print("Connected")
          connectedRef.removeAllObservers()
          completion(true)
        } else {
          print("Not connected")
        }
      })
    _ = handle
  }

  func skew(_ completion: @escaping @Sendable (Double) -> Void) {
    let offsetRef = database.reference(withPath: ".info/serverTimeOffset")
    offsetRef.observeSingleEvent(
      of: .value,
      with: { snapshot in
        if let offset = snapshot.value as? TimeInterval {
          completion(Date().timeIntervalSince1970 * 1000 + offset)
        } else {
          completion(-1)
        }
      })
  }

  func writeOffline(_ completion: @escaping @Sendable (String) -> Void) {
    database.goOffline()
    scoresRef.child("ada").setValue(["name": "Ada", "points": 3], andPriority: 7) { error, ref in
      if let error = error {
        completion("\((error as NSError).domain) \((error as NSError).code)")
      } else {
        completion("saved")
      }
    }
  }

  func give(up limit: Int, _ completion: @escaping @Sendable (Bool, Int) -> Void) {
    scoresRef.child("ada/points").runTransactionBlock(
      { (data: MutableData) -> TransactionResult in
        let points = data.value as? Int ?? 0
        if points >= limit { return TransactionResult.abort() }
        data.value = points + 1
        return TransactionResult.success(withValue: data)
      },
      andCompletionBlock: { (error, committed, snapshot) in
        if let error = error { print(error.localizedDescription) }
        completion(committed, snapshot?.value as? Int ?? -1)
      }, withLocalEvents: false)
  }

  func watch(_ seen: @escaping @Sendable (String) -> Void) {
    let query = scoresRef.queryOrderedByPriority()
    _ = query.observe(.childAdded) { (snapshot, previous) in seen("added \(snapshot.key) after \(previous ?? "-")") }
    _ = query.observe(.childRemoved) { (snapshot) in seen("removed \(snapshot.key) at \(snapshot.priority ?? "-")") }
    _ = query.observe(.childMoved, andPreviousSiblingKeyWith: { seen("moved \($0.key) after \($1 ?? "-")") })
    _ = query.observe(.childChanged, andPreviousSiblingKeyWith: { seen("changed \($0.key) after \($1 ?? "-")") })
  }

  func after(_ points: Int, _ completion: @escaping @Sendable ([String]) -> Void) {
    scoresRef.queryOrdered(byChild: "points").queryStarting(afterValue: points).queryLimited(toFirst: 10)
      .observeSingleEvent(of: .value) { (snapshot: DataSnapshot) in
        var names: [String] = []
        for child in snapshot.children {
          if let snap = child as? DataSnapshot, let dict = snap.value as? [String: Any] {
            names.append(dict["name"] as? String ?? "?")
          }
        }
        completion(names)
      }
  }

  func typed() async throws -> Score {
    try scoresRef.child("joe").setValue(from: Score(name: "Joe", points: 9, badges: ["first"]))
    return try await scoresRef.child("joe").getData().data(as: Score.self)
  }

  func another(_ app: FirebaseApp) async throws -> [String] {
    let other = Database.database(app: app, url: "https://other.firebaseio.com")
    try await other.reference().child("here").setValue(true)
    let same = Database.database(app: app, url: "https://other.firebaseio.com")
    let here = try await database.reference(withPath: "here").getData()
    let (there, previous) = await other.reference().observeSingleEventAndPreviousSiblingKey(of: .childAdded)
    return ["\(same === other)", "\(here.exists())", there.key, previous ?? "-", other.reference().url]
  }
}
