// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseCore
import FirebaseDatabase
import Foundation

// A program as users of the Firebase SDK write it, with the Realtime Database.

// Sound as @unchecked Sendable: used by one test at a time.
final class BlogModel: @unchecked Sendable {
  let ref: DatabaseReference
  private var handles: [(DatabaseQuery, DatabaseHandle)] = []

  init(database: Database) { ref = database.reference() }

  func addUser(_ id: String, name: String, _ completion: @escaping @Sendable (Bool) -> Void) {
    ref.child("users").child(id).setValue(["username": name])
    ref.child("users/\(id)/visits").setValue(1) {
      (error: Error?, ref: DatabaseReference) in
      if let error = error {
        print("Data could not be saved: \(error).")
        completion(false)
      } else {
        completion(ref.key == "visits")
      }
    }
  }

  func name(of id: String, _ completion: @escaping @Sendable (String) -> Void) {
    ref.child("users/\(id)/username").getData(completion: { error, snapshot in
      guard error == nil else {
        print(error!.localizedDescription)
        return
      }
      let userName = snapshot?.value as? String ?? "Unknown"
      completion(userName)
    })
  }

  func nameOnce(of id: String, _ completion: @escaping @Sendable (String) -> Void) {
    ref.child("users").child(id).observeSingleEvent(
      of: .value,
      with: { snapshot in
        let value = snapshot.value as? NSDictionary
        let username = value?["username"] as? String ?? ""
        completion(username)
      }
    ) { error in
      print(error.localizedDescription)
    }
  }

  func writePost(_ userID: String, _ title: String) -> String? {
    guard let key = ref.child("posts").childByAutoId().key else { return nil }
    let post =
      [
        "uid": userID,
        "title": title,
        "starCount": 0,
        "written": ServerValue.timestamp(),
      ] as [String: Any]
    let childUpdates = [
      "/posts/\(key)": post,
      "/user-posts/\(userID)/\(key)/": post,
    ]
    ref.updateChildValues(childUpdates)
    return key
  }

  func star(_ key: String, by uid: String, _ completion: @escaping @Sendable (Int?) -> Void) {
    ref.child("posts").child(key).runTransactionBlock({
      (currentData: MutableData) -> TransactionResult in
      if var post = currentData.value as? [String: AnyObject] {
        var stars: [String: Bool]
        stars = post["stars"] as? [String: Bool] ?? [:]
        var starCount = post["starCount"] as? Int ?? 0
        if let _ = stars[uid] {
          starCount -= 1
          stars.removeValue(forKey: uid)
        } else {
          starCount += 1
          stars[uid] = true
        }
        post["starCount"] = starCount as AnyObject?
        post["stars"] = stars as AnyObject?
        currentData.value = post
        return TransactionResult.success(withValue: currentData)
      }
      return TransactionResult.success(withValue: currentData)
    }) { error, committed, snapshot in
      if let error = error { print(error.localizedDescription) }
      completion((snapshot?.childSnapshot(forPath: "starCount").value as? NSNumber)?.intValue)
    }
  }

  func watchComments(
    _ key: String, added: @escaping @Sendable (String) -> Void, removed: @escaping @Sendable (String) -> Void
  ) {
    let commentsRef = ref.child("post-comments").child(key)
    let first = commentsRef.observe(
      .childAdded,
      with: { (snapshot) -> Void in
        added((snapshot.value as? [String: Any])?["text"] as? String ?? "?")
      })
    let second = commentsRef.observe(DataEventType.childRemoved) { (snapshot) -> Void in
      removed(snapshot.key)
    }
    handles = [(commentsRef, first), (commentsRef, second)]
  }

  func stop() {
    for (query, handle) in handles { query.removeObserver(withHandle: handle) }
    ref.removeAllObservers()
  }

  func top(_ count: UInt, _ completion: @escaping @Sendable ([String]) -> Void) {
    let topPosts = ref.child("posts").queryOrdered(byChild: "starCount").queryLimited(toLast: count)
    topPosts.observeSingleEvent(of: .value) { snapshot in
      var titles: [String] = []
      for child in snapshot.children {
        let post = child as! DataSnapshot
        titles.append(post.childSnapshot(forPath: "title").value as? String ?? "")
      }
      completion(titles)
    }
  }

  func presence() {
    let presenceRef = ref.child("disconnectmessage")
    presenceRef.onDisconnectSetValue("I disconnected!")
    presenceRef.onDisconnectRemoveValue { error, reference in
      if let error = error { print("Could not establish onDisconnect event: \(error)") }
    }
    presenceRef.cancelDisconnectOperations()
  }

  func modern(_ id: String) async throws -> [String] {
    let snapshot = try await ref.child("users").child(id).getData()
    let count = snapshot.childrenCount
    try await ref.child("users/\(id)").updateChildValues(["visits": ServerValue.increment(1)])
    let (after, _) = await ref.child("users/\(id)/visits").observeSingleEventAndPreviousSiblingKey(of: .value)
    struct Person: Codable {
      var username: String
      var visits: Int
    }
    let person = try await ref.child("users/\(id)").getData().data(as: Person.self)
    try ref.child("copies/\(id)").setValue(from: person)
    return ["\(count)", "\(after.value as? Int ?? 0)", person.username]
  }
}
