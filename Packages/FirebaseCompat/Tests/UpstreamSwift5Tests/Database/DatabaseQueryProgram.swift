// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseDatabase
import Foundation

// A program as users of the Firebase SDK write it: ordered queries, priorities, events, presence and typed values.

struct Dinosaur: Codable, Equatable {
  var height: Double
  var weight: Int
}

// Sound as @unchecked Sendable: used by one test at a time.
final class DinosaurModel: @unchecked Sendable {
  let database: Database
  let ref: DatabaseReference
  private var handles: [DatabaseHandle] = []

  init(database: Database) {
    self.database = database
    ref = database.reference(withPath: "dinosaurs")
  }

  func seed(_ completion: @escaping @Sendable (Error?) -> Void) {
    let all: [String: Any] = [
      "bruhathkayosaurus": ["height": 25, "weight": 139_000], "lambeosaurus": ["height": 2.1, "weight": 5_000],
      "linhenykus": ["height": 0.6, "weight": 1], "pterodactyl": ["height": 0.6, "weight": 5],
      "stegosaurus": ["height": 4, "weight": 2_500],
    ]
    ref.setValue(all) { error, reference in
      guard error == nil else { return completion(error) }
      reference.child("stegosaurus").setPriority(3) { error, _ in completion(error) }
    }
  }

  private func keys(_ query: DatabaseQuery, _ completion: @escaping @Sendable ([String]) -> Void) {
    query.observeSingleEvent(of: .value) { snapshot in
      completion((snapshot.children.allObjects as! [DataSnapshot]).map { $0.key })
    }
  }

  func tall(_ completion: @escaping @Sendable ([String]) -> Void) {
    keys(ref.queryOrdered(byChild: "height").queryStarting(atValue: 3), completion)
  }

  func small(_ completion: @escaping @Sendable ([String]) -> Void) {
    keys(ref.queryOrdered(byChild: "height").queryEnding(atValue: 2.5).queryLimited(toFirst: 2), completion)
  }

  func between(_ first: String, _ last: String, _ completion: @escaping @Sendable ([String]) -> Void) {
    keys(ref.queryOrderedByKey().queryStarting(atValue: first).queryEnding(atValue: last), completion)
  }

  func exactly(_ height: Double, _ completion: @escaping @Sendable ([String]) -> Void) {
    keys(ref.queryOrdered(byChild: "height").queryEqual(toValue: height), completion)
  }

  func byPriority(_ completion: @escaping @Sendable ([String]) -> Void) {
    keys(ref.queryOrderedByPriority().queryLimited(toLast: 1), completion)
  }

  func scores(_ completion: @escaping @Sendable ([String]) -> Void) {
    let scores = database.reference().child("scores")
    scores.setValue(["bruhathkayosaurus": 55, "lambeosaurus": 21, "linhenykus": 80])
    keys(scores.queryOrderedByValue().queryLimited(toLast: 2), completion)
  }

  func watch(_ seen: @escaping @Sendable (String) -> Void) {
    let query = ref.queryOrdered(byChild: "weight")
    handles = [
      query.observe(
        .childAdded,
        andPreviousSiblingKeyWith: { snapshot, previous in seen("added \(snapshot.key) after \(previous ?? "none")") }),
      query.observe(.childChanged) { snapshot in seen("changed \(snapshot.key)") },
      query.observe(.childMoved) { snapshot, previous in seen("moved \(snapshot.key) after \(previous ?? "none")") },
      query.observe(
        .value,
        with: { snapshot in if snapshot.hasChild("trex") { seen("\(snapshot.childrenCount) in all") } },
        withCancel: { error in seen(error.localizedDescription) }),
    ]
  }

  func stop() {
    let query = ref.queryOrdered(byChild: "weight")
    for handle in handles { query.removeObserver(withHandle: handle) }
    handles = []
  }

  func presence(_ completion: @escaping @Sendable (Bool) -> Void) {
    let connectedRef = database.reference(withPath: ".info/connected")
    connectedRef.observeSingleEvent(of: .value) { snapshot in
      _ = snapshot.value as? Bool
    }
    let status = database.reference(withPath: "status/ada")
    status.setValue(["online": true, "since": ServerValue.timestamp()])
    status.onDisconnectUpdateChildValues(["online": false, "left": ServerValue.timestamp()]) { error, _ in
      self.database.goOffline()
      self.database.goOnline()
      status.observe(.value) { snapshot in
        guard snapshot.hasChild("left") else { return }
        status.removeAllObservers()
        completion(snapshot.childSnapshot(forPath: "online").value as? Bool == false)
      }
    }
  }

  func modern() async throws -> [String] {
    ref.keepSynced(true)
    let dinosaur = try await ref.child("linhenykus").getData().data(as: Dinosaur.self)
    let (committed, snapshot) = try await ref.child("linhenykus/weight").runTransactionBlock { data in
      guard let weight = data.value as? Int else { return TransactionResult.success(withValue: data) }
      data.value = weight + 1
      return TransactionResult.success(withValue: data)
    }
    let (again, _) = try await ref.child("linhenykus/weight").runTransactionBlock { _ in TransactionResult.abort() }
    try await ref.child("gone").setValue(1)
    let removed = try await ref.child("gone").removeValue()
    let gone = try await removed.getData()
    let stegosaurus = try await ref.child("stegosaurus").getData()
    let exported = stegosaurus.valueInExportFormat() as? [String: Any]
    ref.keepSynced(false)
    return [
      "\(dinosaur.weight)", "\(committed) \(snapshot.value as? Int ?? -1)", "\(again)", "\(gone.exists())",
      "\(exported?[".priority"] as? Int ?? -1)", removed.key ?? "none", ref.parent?.key ?? "root",
      "\(database.reference(withPath: "a/b").url.hasSuffix("/a/b"))",
    ]
  }
}
