import Dispatch
import Foundation
import Testing
import VestaTesting

@testable import VestaDatabase

/// Programs as people write them for Firebase's SDK, after its documentation.
@Suite(.timeLimit(.minutes(20)))
struct UpstreamStyleTests {
  private let world = World()

  @Test func `a post with stars: push ids, a fan-out update and a transaction`() async throws {
    let ref = world.client().reference()
    guard let key = ref.child("posts").childByAutoId().key else {
      Issue.record("no key")
      return
    }
    let post: [String: Any] = ["uid": "u1", "author": "Ada", "title": "On engines", "body": "…"]
    let childUpdates = ["/posts/\(key)": post, "/user-posts/u1/\(key)/": post]
    try await ref.updateChildValues(childUpdates)
    for user in ["u1", "u2", "u1", "u3"] {
      let (committed, snapshot) = try await ref.child("posts/\(key)").runTransactionBlock { currentData in
        guard var post = currentData.value as? [String: AnyObject] else {
          return TransactionResult.success(withValue: currentData)
        }
        var stars = post["stars"] as? [String: Bool] ?? [:]
        var starCount = post["starCount"] as? Int ?? 0
        if stars[user] != nil {
          starCount -= 1
          stars.removeValue(forKey: user)
        } else {
          starCount += 1
          stars[user] = true
        }
        post["starCount"] = starCount as AnyObject?
        post["stars"] = stars as AnyObject?
        currentData.value = post
        return TransactionResult.success(withValue: currentData)
      }
      #expect(committed && snapshot.exists())
    }
    let snapshot = try await ref.child("posts").child(key).getData()
    let value = snapshot.value as? NSDictionary
    #expect(value?["starCount"] as? Int == 2)
    #expect(value?["stars"] as? [String: Bool] == ["u2": true, "u3": true])
    #expect(try await ref.child("user-posts/u1/\(key)/title").getData().value as? String == "On engines")
  }

  @Test func `a leaderboard: ordered queries, cursors and pages`() async throws {
    let scores = world.client().reference(withPath: "scores")
    for (name, score) in [
      ("bruhathkayosaurus", 55), ("lambeosaurus", 21), ("linhenykus", 80), ("pterodactyl", 93),
      ("stegosaurus", 5), ("triceratops", 22),
    ] { try await scores.child(name).setValue(score) }
    let log = Log<String>()
    let query = scores.queryOrderedByValue().queryLimited(toLast: 3)
    query.observe(.childAdded) { snapshot in log.add("\(snapshot.key) \(snapshot.value ?? "-")") }
    await log.wait { $0.count == 3 }
    #expect(log.entries == ["bruhathkayosaurus 55", "linhenykus 80", "pterodactyl 93"])
    try await scores.child("triceratops").setValue(85)
    await log.wait { $0.count == 4 }
    #expect(log.entries.last == "triceratops 85")
    func page(after key: String?) async throws -> [String] {
      let ordered = scores.queryOrderedByKey()
      let page = (key.map { ordered.queryStarting(afterValue: $0) } ?? ordered).queryLimited(toFirst: 2)
      return try await page.getData().children.compactMap { ($0 as? DataSnapshot)?.key }
    }
    var keys: [String] = []
    while case let next = try await page(after: keys.last), !next.isEmpty { keys += next }
    #expect(keys == ["bruhathkayosaurus", "lambeosaurus", "linhenykus", "pterodactyl", "stegosaurus", "triceratops"])
  }

  @Test func `presence: connections of a user, and when the last one went`() async throws {
    let watcher = world.client().reference(withPath: "users/joe")
    let devices = (0..<2).map { _ in world.client() }
    let online = Log<String>()
    for device in devices {
      let myConnectionsRef = device.reference(withPath: "users/joe/connections")
      let lastOnlineRef = device.reference(withPath: "users/joe/lastOnline")
      let connectedRef = device.reference(withPath: ".info/connected")
      connectedRef.observe(
        .value,
        with: { snapshot in
          guard snapshot.value as? Bool ?? false else { return }
          let con = myConnectionsRef.childByAutoId()
          con.onDisconnectRemoveValue()
          lastOnlineRef.onDisconnectSetValue(ServerValue.timestamp())
          con.setValue(true) { error, _ in online.add(error == nil ? "on" : "\(error as Any)") }
        })
    }
    await online.wait { $0.count == 2 }
    let counts = Log<Int>()
    let last = Log<Bool>()
    watcher.child("connections").observe(.value) { counts.add(Int($0.childrenCount)) }
    watcher.child("lastOnline").observe(.value) { last.add($0.exists()) }
    await counts.wait { $0.last == 2 }
    for device in devices { device.goOffline() }
    await counts.wait { $0.last == 0 }
    await last.wait { $0.last == true }
    devices[0].goOnline()
    await counts.wait { $0.last == 1 }
  }

  @Test func `a form with errors: completion blocks, cancel blocks, removing observers`() async throws {
    let ref = world.client().reference(withPath: "form")
    let log = Log<String>()
    ref.setValue(["when": Date()]) { error, ref in
      log.add(error.map { ($0 as NSError).domain } ?? "saved at \(ref.url)")
    }
    await log.wait { $0.count == 1 }
    #expect(log.entries == ["com.firebase"])
    ref.setValue(["when": Date().timeIntervalSince1970, "flags": [true, false], "none": NSNull()] as [String: Any]) {
      error, _ in log.add(error == nil ? "saved" : "failed")
    }
    await log.wait { $0.count == 2 }
    #expect(log.entries.last == "saved")
    let handle = ref.observe(
      .value, with: { log.add("value \($0.childrenCount)") }, withCancel: { _ in log.add("cancelled") })
    await log.wait { $0.last == "value 2" }
    ref.removeObserver(withHandle: handle)
    sync { ref.child("more").setValue(1) }
    let snapshot = try await ref.getData()
    #expect(snapshot.childrenCount == 3 && log.entries.last == "value 2")
    #expect((snapshot.childSnapshot(forPath: "flags").value as? [Bool]) == [true, false])
    for case let child as DataSnapshot in snapshot.children { #expect(["when", "flags", "more"].contains(child.key)) }
  }

  @MainActor
  final class ViewModel {
    var titles: [String] = []
    private var handle: DatabaseHandle?
    private let ref: DatabaseReference
    init(_ ref: DatabaseReference) { self.ref = ref }

    func start(_ shown: @escaping @Sendable ([String]) -> Void) {
      handle = ref.observe(.value) { snapshot in
        let titles = snapshot.children.compactMap { ($0 as? DataSnapshot)?.value as? String }
        Task { @MainActor in
          self.titles = titles
          shown(titles)
        }
      }
    }

    func stop() { if let handle { ref.removeObserver(withHandle: handle) } }
  }

  @Test func `a view model on the main actor`() async throws {
    let ref = world.client().reference(withPath: "titles")
    let shown = Log<[String]>()
    let model = await ViewModel(ref)
    await model.start { shown.add($0) }
    try await ref.childByAutoId().setValue("one")
    try await ref.childByAutoId().setValue("two")
    await shown.wait { $0.last == ["one", "two"] }
    #expect(await model.titles == ["one", "two"])
    await model.stop()
  }
}
