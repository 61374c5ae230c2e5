import Foundation
import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// The calls of a program in the idiom of Firebase's documentation, one after another.
@Suite(.timeLimit(.minutes(20)))
struct StoryTests {
  private let world = World()

  /// All events of a query, each with the key of the sibling before.
  private func record(_ query: DatabaseQuery) -> Log<String> {
    let log = Log<String>()
    let kinds: [(DataEventType, String)] = [
      (.childAdded, "added"), (.childRemoved, "removed"), (.childMoved, "moved"), (.childChanged, "changed"),
    ]
    for (kind, name) in kinds {
      query.observe(kind) { snapshot, previous in log.add("\(name) \(snapshot.key) after \(previous ?? "nothing")") }
    }
    query.observe(.value) { snapshot in
      log.add("value " + snapshot.children.compactMap { ($0 as? DataSnapshot)?.key }.joined())
    }
    return log
  }

  /// Returns what was heard of a write, from its first event to its value.
  private func heard(_ log: Log<String>, _ write: () async throws -> Void) async throws -> [String] {
    let before = log.entries.count
    try await write()
    await log.wait { $0.dropFirst(before).contains { $0.hasPrefix("value") } }
    return Array(log.entries.dropFirst(before))
  }

  @Test func `each kind of event comes with the sibling before, in the order of the query`() async throws {
    let reference = world.client().reference(withPath: "scores")
    try await reference.setValue(["ada": 3, "bob": 1, "cyd": 2])
    let log = record(reference.queryOrderedByValue())
    await log.wait { $0.last == "value bobcydada" }
    #expect(log.entries.dropLast() == ["added bob after nothing", "added cyd after bob", "added ada after cyd"])
    #expect(
      try await heard(log) { try await reference.child("bob").setValue(9) }
        == ["moved bob after ada", "changed bob after ada", "value cydadabob"])
    #expect(
      try await heard(log) { try await reference.child("dan").setValue(2) }
        == ["added dan after cyd", "value cyddanadabob"])
    #expect(
      try await heard(log) { try await reference.child("cyd").removeValue() }
        == ["removed cyd after nothing", "value danadabob"])
    // One write that does everything: removed, added, moved, changed, then the value.
    #expect(
      try await heard(log) {
        try await reference.updateChildValues(["dan": NSNull(), "eve": 1, "ada": 10, "bob": 9.5] as [String: Any])
      } == [
        "removed dan after nothing", "added eve after nothing", "moved bob after eve", "moved ada after bob",
        "changed bob after eve", "changed ada after bob", "value evebobada",
      ])
  }

  @Test func `priorities order children, move them, and come out again`() async throws {
    let reference = world.client().reference(withPath: "list")
    try await reference.child("a").setValue("first", andPriority: 2)
    try await reference.child("b").setValue(["x": 1], andPriority: "text")
    try await reference.child("c").setValue(true)
    let log = record(reference)
    await log.wait { $0.last == "value cab" }
    #expect(
      try await heard(log) { try await reference.child("a").setPriority(nil) }
        == ["moved a after nothing", "changed a after nothing", "value acb"])
    let snapshot = try await reference.child("b").getData()
    #expect(snapshot.priority as? String == "text")
    #expect((snapshot.valueInExportFormat() as? [String: Any])?[".priority"] as? String == "text")
    // A priority where nothing is changes nothing.
    try await reference.child("nobody").setPriority(1)
    #expect(try await reference.child("nobody").getData().exists() == false)
    try await reference.child("d").setValue([".value": 5, ".priority": 0.5] as [String: Any])
    #expect(try await reference.child("d").getData().priority as? Double == 0.5)
  }

  @Test func `references and queries are equal where they ask one database for the same`() {
    let (one, other) = (world.client(), world.client())
    let a = one.reference(withPath: "a")
    #expect(a == one.reference(withPath: "/a/") && a.queryLimited(toFirst: 1) == a.queryLimited(toFirst: 1))
    #expect(a != one.reference(withPath: "b") && a != other.reference(withPath: "a"))
    #expect(a.queryLimited(toFirst: 1) != a.queryLimited(toFirst: 2) && a != a.queryLimited(toFirst: 1))
    #expect(Set([a, one.reference(withPath: "a"), one.reference(withPath: "b")]).count == 2)
  }

  @Test func `transactions add up, abort, show or hide what they do, and lose against a plain write`() async throws {
    let (client, other) = (world.client(), world.client())
    let reference = client.reference(withPath: "n")
    await withTaskGroup { group in
      for number in 0..<12 {
        let reference = (number % 2 == 0 ? client : other).reference(withPath: "n")
        group.addTask {
          let result = try? await reference.runTransactionBlock { data in
            data.value = (data.value as? Int ?? 0) + 1
            return .success(withValue: data)
          }
          #expect(result?.0 == true)
        }
      }
    }
    #expect(try await other.reference(withPath: "n").getData().value as? Int == 12)
    let (isCommitted, snapshot) = try await reference.runTransactionBlock { _ in .abort() }
    #expect(!isCommitted && snapshot.key == "n")
    client.goOffline()
    let shown = Log<Int>()
    reference.observe(.value) { shown.add($0.value as? Int ?? -1) }
    func add(_ delta: Int, localEvents: Bool, _ ended: Log<String>) {
      reference.runTransactionBlock(
        { data in
          data.value = (data.value as? Int ?? 0) + delta
          return .success(withValue: data)
        }, andCompletionBlock: { error, isCommitted, _ in ended.add("\(isCommitted) \(error.map { "\($0)" } ?? "")") },
        withLocalEvents: localEvents)
    }
    let ended = Log<String>()
    add(100, localEvents: true, ended)
    await shown.wait { $0.last == 100 || $0.last == 112 }
    add(1000, localEvents: false, ended)
    sync { reference.setValue(1) }
    await shown.wait { $0.last == 1 }
    // The first one has been handed over to be sent: it ends with the answer, that the data is another.
    await ended.wait { $0.count == 1 }
    client.goOnline()
    await ended.wait { $0.count == 2 }
    #expect(ended.entries == ["false set", "false set"])
    // An update over its place ends a transaction too.
    client.goOffline()
    add(7, localEvents: true, ended)
    add(1000, localEvents: false, ended)
    await shown.wait { $0.last == 8 }
    sync { client.reference().updateChildValues(["n": 1, "m": 1]) }
    await ended.wait { $0.count == 3 }
    client.goOnline()
    await ended.wait { $0.count == 4 }
    #expect(ended.entries[2] == "false set")
    #expect(!shown.entries.contains { $0 >= 1000 })
    try await reference.setValue(2)
    #expect(try await other.reference(withPath: "n").getData().value as? Int == 2)
  }

  @Test func `the connection, the time of the service, and several databases of one process`() async throws {
    let client = world.client()
    let states = Log<Bool>()
    client.reference(withPath: ".info/connected").observe(.value) { states.add($0.value as? Bool ?? false) }
    await states.wait { $0.last == true }
    #expect(states.entries.first == false)
    let offsets = Log<Int>()
    client.reference(withPath: ".info/serverTimeOffset").observe(.value) { offsets.add($0.value as? Int ?? .max) }
    await offsets.wait { !$0.isEmpty }
    #expect(abs(offsets.entries[0]) < 60_000)
    client.goOffline()
    await states.wait { $0.last == false }
    client.goOnline()
    await states.wait { $0.last == true }
    await #expect(throws: DatabaseError.self) { try await client.reference(withPath: ".info/connected").setValue(1) }
    // Another address is another tree.
    var environment = Repo.Environment(backend: world.engine)
    environment.readTime = .seconds(3600)
    let other = Database(
      app: nil, url: try DatabaseURL("https://other.firebaseio.com"),
      environment: environment, callbackQueue: DispatchQueue(label: "callbacks"),
      stores: nil, storeName: "cache", directory: { "" })
    try await other.reference(withPath: "a").setValue("there")
    #expect(try await client.reference(withPath: "a").getData().exists() == false)
    #expect(try await other.reference(fromURL: "https://other.firebaseio.com/a").getData().value as? String == "there")
  }

  @Test func `what is kept synced is known without an observer, until it is not kept any more`() async throws {
    let (client, other) = (world.client(), world.client())
    let reference = client.reference(withPath: "kept")
    try await other.reference(withPath: "kept").setValue(["a": 1])
    reference.keepSynced(true)
    let (first, _) = await reference.observeSingleEventAndPreviousSiblingKey(of: .value)
    #expect(first.value as? [String: Int] == ["a": 1])
    // Only an observer or `keepSynced` makes the service send this.
    try await other.reference(withPath: "kept/b").setValue(2)
    await world.settle(client)
    client.goOffline()
    #expect(try await reference.getData().value as? [String: Int] == ["a": 1, "b": 2])
    reference.keepSynced(false)
    client.goOnline()
    await world.settle(client)
    #expect(world.engine.watchCount(in: "test") == 0)
  }

  @Test func `what is asked for the end of a connection is replaced, merged and cancelled`() async throws {
    let (client, other) = (world.client(), world.client())
    let reference = client.reference(withPath: "u")
    try await reference.setValue(["name": "Ada", "state": "here", "note": "n", "kept": true] as [String: Any])
    try await reference.child("state").onDisconnectSetValue("gone")
    let values: [String: Any] = ["seen": ServerValue.timestamp(), "count": ServerValue.increment(1)]
    try await reference.onDisconnectUpdateChildValues(values)
    try await reference.child("note").onDisconnectRemoveValue()
    try await reference.child("kept").onDisconnectRemoveValue()
    try await reference.child("kept").cancelDisconnectOperations()
    #expect(try await other.reference(withPath: "u/state").getData().value as? String == "here")
    client.goOffline()
    await world.settle(client)
    let left = try await other.reference(withPath: "u").getData()
    #expect(left.childSnapshot(forPath: "state").value as? String == "gone")
    #expect(left.childSnapshot(forPath: "count").value as? Int == 1)
    #expect((left.childSnapshot(forPath: "seen").value as? Int ?? 0) > 1_600_000_000_000)
    #expect(!left.hasChild("note") && left.childSnapshot(forPath: "kept").value as? Bool == true)
    // It happens once.
    client.goOnline()
    await world.settle(client)
    client.goOffline()
    await world.settle(client)
    #expect(try await other.reference(withPath: "u/count").getData().value as? Int == 1)
  }

  private struct Guarded: DatabaseAccess {
    func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool { path.front != "secret" }
    func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool { path.front != "locked" }
  }

  @Test func `what the service refuses shows at once, is taken back, and takes nothing else with it`() async throws {
    var options = DatabaseServiceOptions()
    options.access = Guarded()
    let root = World(options: options).client().reference()
    let shown = Log<String>()
    root.child("locked/a").observe(.value) { shown.add("\($0.value ?? "")") }
    await shown.wait { $0.count == 1 }
    await #expect(throws: DatabaseError(.permissionDenied, "Permission denied")) {
      try await root.child("locked/a").setValue(1)
    }
    await shown.wait { $0.count == 3 }
    #expect(shown.entries == ["<null>", "1", "<null>"])
    await #expect(throws: DatabaseError(.permissionDenied, "Permission denied")) {
      try await root.updateChildValues(["open/x": 1, "locked/x": 2])
    }
    await #expect(throws: DatabaseError(.permissionDenied, "Permission denied")) {
      _ = try await root.child("locked/n").runTransactionBlock { data in
        data.value = 1
        return .success(withValue: data)
      }
    }
    #expect(try await root.child("open").getData().exists() == false)
    #expect(try await root.child("locked").getData().exists() == false)
    let cancelled = Log<String>()
    root.child("secret").observe(.value, with: { _ in cancelled.add("called") }) { error in
      cancelled.add("\((error as NSError).code) \(error.localizedDescription)")
    }
    await cancelled.wait { $0 == ["1 Permission Denied"] }
  }
}
