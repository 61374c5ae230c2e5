import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase

struct AddressTests {
  @Test(
    arguments: [
      ("https://chat.firebaseio.com", "https://chat.firebaseio.com", "chat", ""),
      ("http://chat.firebaseio.com/", "https://chat.firebaseio.com", "chat", ""),
      ("CHAT.Firebaseio.com/a//b/", "https://chat.firebaseio.com", "chat", "a/b"),
      (
        "https://chat.europe-west1.firebasedatabase.app/x", "https://chat.europe-west1.firebasedatabase.app", "chat",
        "x"
      ),
      ("http://localhost:9000?ns=chat", "http://localhost:9000", "chat", ""),
      ("https://localhost:9000/p?x=1&ns=chat&y=2", "https://localhost:9000", "chat", "p"),
      ("https://localhost:9000/p?ns=chat&back=/?", "https://localhost:9000", "chat", "p"),
      ("wss://localhost:9000?ns=chat", "https://localhost:9000", "chat", ""),
      ("ws://localhost:9000", "http://localhost:9000", "localhost", ""),
      ("http://127.0.0.1:9000?ns=chat", "http://127.0.0.1:9000", "chat", ""),
      ("https://chat.firebaseio.com?ns=other", "https://chat.firebaseio.com", "other", ""),
      ("https://example.com", "https://example.com", "example", ""),
      ("https://chat.firebaseio.com/a%20b/c+d/%C3%A9%2Fx", "https://chat.firebaseio.com", "chat", nil),
    ] as [(String, String, String, String?)])
  func `an address says the host, the database and a path`(
    text: String, root: String, namespace: String, path: String?
  ) throws {
    let url = try DatabaseURL(text)
    #expect(url.root == root && url.namespace == namespace)
    if let path { #expect(url.path.text == path) } else { #expect(url.path.keys.map(\.text) == ["a b", "c d", "é/x"]) }
  }

  @Test func `each database keeps its data on the device under a name of its own, which its address shows`() throws {
    let names = try [
      "https://one-default-rtdb.firebaseio.com", "https://two-default-rtdb.firebaseio.com",
      "https://two-default-rtdb.europe-west1.firebasedatabase.app", "http://localhost:9000?ns=a",
      "http://localhost:9000?ns=b", "http://localhost:9001?ns=a", "https://é.firebaseio.com",
    ].map { DatabaseProvider.storeName(try DatabaseURL($0)) }
    #expect(Set(names).count == names.count)
    #expect(names[0] == "database-cache-one-default-rtdb.firebaseio.com_one-default-rtdb")
    #expect(names[3] == "database-cache-localhost_9000_a")
    for name in names {
      #expect(name.utf8.count < 100 && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F })
    }
  }

  @Test func `long addresses that differ at their ends alone have names of their own`() throws {
    let long = String(repeating: "n", count: 70)
    let names = try [
      "http://localhost:9000?ns=\(long)a", "http://localhost:9000?ns=\(long)b", "https://\(long).\(long).one.example",
      "https://\(long).\(long).two.example",
    ].map { DatabaseProvider.storeName(try DatabaseURL($0)) }
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.utf8.count < 100) }
    // The caches of databases in production keep the names that they had.
    let production = "https://a-project-of-thirty-characters-default-rtdb.asia-southeast1.firebasedatabase.app"
    #expect(
      DatabaseProvider.storeName(try DatabaseURL(production))
        == "database-cache-a-project-of-thirty-characters-default-rtdb.asia-southeast1.firebasedatabase.app")
  }

  @Test(arguments: ["", "https://", "https:///path", "?ns=x"])
  func `an address without a host is refused`(text: String) {
    #expect(throws: DatabaseError(.other, "Cannot connect to nil or empty host.")) { try DatabaseURL(text) }
  }

  @Test func `the first attempt to connect is at once, later ones wait longer and longer up to half a minute`() {
    var random = SplitMix(seed: 1)
    for _ in 0..<50 {
      var delay = ReconnectDelay()
      #expect(delay.next(using: &random) == .zero)
      var longest = 1000.0
      for _ in 0..<20 {
        let wait = delay.next(using: &random) / .milliseconds(1) as Double
        #expect(wait >= 0.3 * longest - 1 && wait <= longest)
        longest = min(30_000, longest * 1.3)
      }
      delay.reset()
      #expect(delay.next(using: &random) == .zero)
    }
  }

  @Test(arguments: 0..<100)
  func `writes and queries are read from the device as they were kept`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let changes: [StoredWrite.Change] = [
      .overwrite(random.node()), .overwrite(DatabaseNode(.incrementInt(3), priority: .timestamp)),
      .merge((0..<random.below(4)).map { _ in DatabasePathValue(random.path(0...3), random.node()) }),
    ]
    for change in changes {
      let path = random.path(0...3)
      let write = try StoredWrite(id: 7, bytes: StoredWrite(id: 7, path: path, change: change).bytes)
      #expect(write.id == 7 && write.path == path)
      switch (write.change, change) {
      case (.overwrite(let left), .overwrite(let right)): #expect(left == right)
      case (.merge(let left), .merge(let right)): #expect(left == right)
      default: Issue.record("seed \(seed): another kind of write")
      }
    }
    var spec = random.spec()
    if random.oneIn(3), spec.index != .key { spec.start = .init(DatabaseNode(.int(1)), key: .minimum) }
    if random.oneIn(3), spec.index != .key {
      spec.end = .init(DatabaseNode(.int(1)), key: .maximum, isInclusive: false)
    }
    let query = SyncCache.TrackedQuery(
      id: 4, path: random.path(0...3), spec: spec, lastUse: Int64(random.below(99)) - 9, isActive: random.oneIn(2),
      isComplete: random.oneIn(2), keys: Set((0..<random.below(4)).map { _ in random.key() }))
    let read = try SyncCache.TrackedQuery(id: 4, bytes: query.bytes)
    #expect(read.path == query.path && read.spec == query.spec && read.lastUse == query.lastUse)
    #expect(read.isActive == query.isActive && read.isComplete == query.isComplete && read.keys == query.keys)
    // Whatever is cut off is noticed.
    for count in 0..<query.bytes.count {
      #expect(throws: BytesError.self) { try SyncCache.TrackedQuery(id: 4, bytes: Array(query.bytes.prefix(count))) }
    }
  }
}
