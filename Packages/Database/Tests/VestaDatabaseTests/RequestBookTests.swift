import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase

/// The requests of a client, event by event.
@Suite struct RequestBookTests {
  private typealias Action = RequestBook.Action

  private static let query = SyncQuery(path: "chat", spec: .all)

  private let query = Self.query
  private let error = DatabaseError(.unavailable, "over")

  private func request(_ id: Int) -> DatabaseRequest { .put("w", DatabaseNode(.int(Int64(id))), hash: nil) }

  private func write(_ id: Int, isStored: Bool = false) -> RequestBook.Content {
    .write(id, at: "w", isStored: isStored)
  }

  private func send(_ id: Int, as put: Int) -> Action { .send(request(id), .put(put)) }

  /// A book with a connection, and writes that were sent under the numbers 1, 2 and so on.
  private func connected(writes: Int = 0) -> RequestBook {
    var book = RequestBook()
    _ = book.connected()
    for id in 0..<writes { _ = book.add(request(id + 1), write(id + 1)) }
    for case .send(_, let purpose) in book.sendWrites() { _ = book.number(of: purpose) }
    return book
  }

  @Test func `the worked example`() {
    var book = RequestBook()
    #expect(book.connected() == [])
    #expect(book.number(of: book.listen(query)) == 1)
    #expect(book.add(request(9), write(9)) == 1)
    #expect(book.sendWrites() == [send(9, as: 1)])
    #expect(book.number(of: .put(1)) == 2)
    #expect(book.replied(2, .ok) == [])
    #expect(book.replied(1, .ok) == [.showListen(query, .ok, isCurrent: true)])
    #expect(book.shown() == [.showAnswer(write(9), .ok)])
    #expect(book.shown() == [])
  }

  // MARK: Writes

  @Test func `writes wait for a connection, and are sent again on the next one in their order`() {
    var book = RequestBook()
    _ = book.add(request(1), write(1))
    _ = book.add(request(2), write(2))
    #expect(book.sendWrites() == [])
    #expect(book.connected() == [send(1, as: 1), send(2, as: 2)])
    _ = (book.number(of: .put(1)), book.number(of: .put(2)))
    #expect(book.sendWrites() == [], "once for each connection")
    #expect(book.replied(1, .ok) == [.showAnswer(write(1), .ok)])
    #expect(book.disconnected() == [.showDisconnected([])])
    #expect(book.replied(2, .ok) == [], "a reply of the earlier connection")
    #expect(book.connected() == [send(2, as: 2)])
  }

  @Test func `a write that the device does not keep yet holds up the ones after it`() {
    var book = connected()
    let first = book.add(request(1), write(1, isStored: true), isKept: false)
    _ = book.add(request(2), .transactions([7], at: "w"))
    #expect(book.sendWrites() == [])
    #expect(book.kept(first) == [send(1, as: 1), send(2, as: 2)])
    #expect(book.kept(99) == [])
  }

  @Test func `an answer waits behind one that waits, even when no listen is under way`() {
    var book = connected(writes: 2)
    let listen = book.number(of: book.listen(query))
    #expect(book.replied(1, .ok) == [])
    _ = book.replied(listen, .ok)
    #expect(book.replied(2, .ok) == [], "before the first answer is shown")
    #expect(book.shown() == [.showAnswer(write(1), .ok), .showAnswer(write(2), .ok)])
  }

  @Test func `answers wait for the listens of the next connection, and transactions that were sent end`() {
    var book = connected(writes: 1)
    _ = book.add(request(2), .transactions([7], at: "w"))
    _ = book.add(request(3), .transactions([8], at: "w"), isKept: false)
    for case .send(_, let purpose) in book.sendWrites() { _ = book.number(of: purpose) }
    _ = book.number(of: book.listen(query))
    #expect(book.replied(1, .ok) == [])
    let unknown = DatabaseReply(.disconnect, message: "Client was disconnected while running a transaction")
    #expect(
      book.disconnected() == [.showDisconnected([]), .showAnswer(.transactions([7], at: "w"), unknown)])
    #expect(book.kept(3) == [], "there is no connection")
    let listen = book.number(of: book.listen(query))
    #expect(book.connected() == [send(3, as: 3)], "what was answered is not sent again")
    #expect(book.replied(listen, .ok) == [.showListen(query, .ok, isCurrent: true)])
    #expect(book.shown() == [.showAnswer(write(1), .ok)])
  }

  @Test func `a write whose answer waits leaves the device with the connection, and is not sent again`() {
    var book = connected(writes: 0)
    _ = book.add(request(1), write(1, isStored: true))
    #expect(book.sendWrites() == [send(1, as: 1)])
    let put = book.number(of: .put(1))
    _ = book.number(of: book.listen(query))
    #expect(book.replied(put, .ok) == [])
    #expect(book.disconnected() == [.forgetStored(1, isAccepted: true), .showDisconnected([])])
    #expect(book.connected() == [.showAnswer(write(1, isStored: true), .ok)])
  }

  @Test func `answers that wait are given when no listen or no connection follows`() {
    func waiting() -> RequestBook {
      var book = connected(writes: 1)
      _ = book.number(of: book.listen(query))
      #expect(book.replied(1, .ok) == [])
      #expect(book.disconnected() == [.showDisconnected([])])
      return book
    }
    var book = waiting()
    #expect(book.connected() == [.showAnswer(write(1), .ok)])
    book = waiting()
    #expect(book.endPuts(error) == [.showAnswer(write(1), .ok)])
    book = waiting()
    #expect(book.takeBackWrites(DatabaseReply(.writeCanceled)) == [.showAnswer(write(1), .ok)])
    book = waiting()
    #expect(book.refuseWrites(DatabaseReply(.unavailable, message: "broken")) == [.showAnswer(write(1), .ok)])
  }

  @Test func `a service that refuses everything ends the writes that the device does not keep`() {
    var book = RequestBook()
    _ = book.add(request(1), write(1))
    _ = book.add(request(2), write(2, isStored: true))
    _ = book.add(request(3), .transactions([7], at: "w"))
    let reply = DatabaseReply(.unavailable, message: "broken")
    #expect(book.refuseWrites(reply) == [.showAnswer(write(1), reply)])
    book.dropTransactions()
    #expect(book.connected() == [send(2, as: 2)])
  }

  @Test func `taking back answers all writes, and drops transactions without a word`() {
    var book = connected(writes: 2)
    _ = book.add(request(3), .transactions([7], at: "w"))
    let reply = DatabaseReply(.writeCanceled)
    #expect(book.takeBackWrites(reply) == [.showAnswer(write(1), reply), .showAnswer(write(2), reply)])
    #expect(book.replied(1, .ok) == [])
    #expect(book.endPuts(error) == [])
  }

  @Test func `ending names every write and its transactions`() {
    var book = RequestBook()
    _ = book.add(request(1), write(1))
    _ = book.add(request(2), .transactions([7], at: "w"))
    #expect(book.endPuts(error) == [.endPut(write(1), error), .endPut(.transactions([7], at: "w"), error)])
    #expect(book.connected() == [])
  }

  // MARK: Listens

  @Test func `the reply of a listen that was begun again says nothing about the current one`() {
    var book = connected()
    let first = book.number(of: book.listen(query))
    book.unlisten(query)
    let second = book.number(of: book.listen(query))
    #expect(book.replied(first, .ok) == [.showListen(query, .ok, isCurrent: false)])
    #expect(book.replied(second, .ok) == [.showListen(query, .ok, isCurrent: true)])
    book.unlisten(query)
    let third = book.number(of: book.listen(query))
    book.unlisten(query)
    #expect(book.replied(third, .ok) == [.showListen(query, .ok, isCurrent: false)])
  }

  // MARK: Reads

  @Test func `a read without a connection has a limited time, which ends when it is sent`() {
    var book = RequestBook()
    #expect(book.read(5, "r", .all) == [.limitRead(5)])
    #expect(book.connected() == [.unlimitRead(5), .send(.get("r", .all), .read(5))])
    #expect(book.readTimedOut(5, "offline") == [], "a timer that fired just before")
    _ = book.number(of: .read(5))
    #expect(book.disconnected() == [.limitRead(5), .showDisconnected([])])
    #expect(book.disconnected() == [.showDisconnected([])], "it is limited already")
    let end = book.readTimedOut(5, "offline")
    #expect(end.count == 2 && end.first == .unlimitRead(5))
    guard case .endRead(let read, .failure("offline"))? = end.last else {
      Issue.record("The read has not ended.")
      return
    }
    #expect(read.path == "r" && !read.isLimited)
    #expect(book.reads.isEmpty)
  }

  @Test func `the reply of a read ends it, with its data or with the reason`() throws {
    for reply in [DatabaseReply(.ok, node: DatabaseNode(.int(3))), DatabaseReply(.permissionDenied, message: "No.")] {
      var book = connected()
      #expect(book.read(5, "r", .all) == [.send(.get("r", .all), .read(5))])
      let read = try #require(book.reads[5])
      let outcome: RequestBook.ReadOutcome = reply.status == .ok ? .node(reply.node) : .failure("No.")
      #expect(book.replied(book.number(of: .read(5)), reply) == [.endRead(read, outcome)])
      #expect(book.giveUp(read: 5) == [])
    }
  }

  @Test func `a read that was given up is not sent, and its reply is ignored`() {
    var book = RequestBook()
    _ = book.read(5, "r", .all)
    #expect(book.giveUp(read: 5) == [.unlimitRead(5)])
    #expect(book.connected() == [])
    _ = book.read(6, "r", .all)
    let number = book.number(of: .read(6))
    #expect(book.giveUp(read: 6) == [])
    #expect(book.replied(number, .ok) == [])
  }

  // MARK: Operations for the end of the connection

  @Test func `an operation is sent at once or with the connection, and is lost with it`() {
    var book = RequestBook()
    let put = DatabaseRequest.onDisconnectPut("p", DatabaseNode(.bool(false)))
    #expect(book.addDisconnectOperation(1, put) == [])
    #expect(book.connected() == [.send(put, .disconnectOperation(1, put))])
    let number = book.number(of: .disconnectOperation(1, put))
    #expect(book.replied(number, .ok) == [.endDisconnectOperation(1, nil)])
    #expect(book.addDisconnectOperation(2, put) == [.send(put, .disconnectOperation(2, put))])
    _ = book.number(of: .disconnectOperation(2, put))
    let lost = DatabaseError(
      status: .disconnect,
      message: "Client was disconnected while an operation for the disconnect was being queued")
    #expect(
      book.disconnected() == [
        .endDisconnectOperation(2, lost), .showDisconnected([DatabasePathValue("p", DatabaseNode(.bool(false)))]),
      ])
    #expect(book.disconnected() == [.showDisconnected([])], "it is shown once")
    #expect(book.connected() == [], "it is not sent again")
  }

  @Test func `a refused operation is not shown, and a cancelled one no longer`() {
    var book = connected()
    let (put, cancel) = (
      DatabaseRequest.onDisconnectPut("p", DatabaseNode(.bool(false))), DatabaseRequest.onDisconnectCancel("p")
    )
    let refused = book.number(of: .disconnectOperation(1, put))
    let reply = DatabaseReply(.permissionDenied, message: "No.")
    #expect(
      book.replied(refused, reply) == [
        .endDisconnectOperation(1, DatabaseError(status: .permissionDenied, message: "No."))
      ])
    _ = book.replied(book.number(of: .disconnectOperation(2, put)), .ok)
    _ = book.replied(book.number(of: .disconnectOperation(3, cancel)), .ok)
    #expect(book.disconnected() == [.showDisconnected([])])
  }

  @Test func `operations that wait end with an error`() {
    var book = RequestBook()
    _ = book.addDisconnectOperation(1, .onDisconnectCancel("p"))
    #expect(book.endOperations(error) == [.endDisconnectOperation(1, error)])
    #expect(book.connected() == [])
  }

  @Test func `replies of the current user are handed on, and notices have none`() {
    var book = connected()
    let first = book.number(of: .authentication(isFirst: true))
    #expect(book.replied(first, .ok) == [.authenticated(.ok, isFirst: true)])
    #expect(book.replied(first, .ok) == [], "a second reply")
    #expect(book.replied(book.number(of: .notice), .ok) == [])
    #expect(book.replied(999, .ok) == [])
  }

  // MARK: Any order of events

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `in any order of events each call ends once, and answers keep their order`(seed: UInt64) {
    var walk = Walk(seed: seed)
    for _ in 0..<600 { walk.step() }
    walk.finish()
  }

  /// A performer over a service that answers at random.
  private struct Walk {
    private var book = RequestBook()
    private var random: SplitMix
    /// The requests that the service has not answered.
    private var asked: [Int] = []
    private var lastID = 0
    private var lastNumber = 0
    private var writes: Set<Int> = []
    private var reads: Set<Int> = []
    private var operations: Set<Int> = []
    private var unkept: Set<Int> = []
    /// The puts that were sent on this connection.
    private var sent: [Int] = []

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    mutating func step() {
      lastID += 1
      switch Int.random(in: 0..<12, using: &random) {
      case 0...2: add(.write(lastID, at: "w", isStored: Bool.random(using: &random)))
      case 3: add(.transactions([lastID], at: "w"))
      case 4:
        reads.insert(lastID)
        perform(book.read(lastID, "r", .all))
      case 5:
        operations.insert(lastID)
        perform(book.addDisconnectOperation(lastID, .onDisconnectPut("p", .empty)))
      case 6: if let id = unkept.randomElement(using: &random) { keep(id) }
      case 7:
        if book.isConnected {
          sent = []
          asked = []
          perform(book.disconnected())
        } else {
          perform(book.connected())
        }
      case 8: if book.isConnected { ask(book.listen(RequestBookTests.query)) }
      case 9: if let id = book.reads.keys.randomElement(using: &random) { perform(book.readTimedOut(id, "late")) }
      default: reply()
      }
      check()
    }

    mutating func finish() {
      if !book.isConnected { perform(book.connected()) }
      while let id = unkept.first { keep(id) }
      while !asked.isEmpty {
        reply()
        check()
      }
      #expect(writes.isEmpty && reads.isEmpty && operations.isEmpty)
    }

    private mutating func add(_ content: RequestBook.Content) {
      writes.insert(lastID)
      let isKept = Int.random(in: 0..<3, using: &random) > 0
      let put = book.add(.put("w", .empty, hash: nil), content, isKept: isKept)
      if !isKept { unkept.insert(put) }
      perform(book.sendWrites())
    }

    private mutating func keep(_ put: Int) {
      unkept.remove(put)
      perform(book.kept(put))
    }

    private mutating func ask(_ purpose: RequestBook.Purpose) {
      let number = book.number(of: purpose)
      #expect(number == lastNumber + 1)
      lastNumber = number
      asked.append(number)
    }

    private mutating func reply() {
      guard !asked.isEmpty else { return }
      let reply = Bool.random(using: &random) ? DatabaseReply.ok : DatabaseReply(.permissionDenied)
      perform(book.replied(asked.remove(at: Int.random(in: asked.indices, using: &random)), reply))
    }

    private mutating func perform(_ actions: [RequestBook.Action]) {
      for action in actions {
        switch action {
        case .send(_, let purpose):
          #expect(book.isConnected)
          if case .put(let put) = purpose {
            #expect(!unkept.contains(put), "the device has to keep it first")
            #expect(sent.allSatisfy { $0 < put }, "in their order, and once")
            sent.append(put)
          }
          ask(purpose)
        case .limitRead(let id): #expect(!book.isConnected && reads.contains(id))
        case .unlimitRead(let id): #expect(reads.contains(id))
        case .endRead(let read, _): #expect(reads.remove(read.id) != nil)
        case .showListen: perform(book.shown())
        case .showAnswer(let content, _), .endPut(let content, _):
          switch content {
          case .write(let id, _, _): #expect(writes.remove(id) != nil)
          case .transactions(let ids, _): for id in ids { #expect(writes.remove(id) != nil) }
          }
        case .endDisconnectOperation(let id, _): #expect(operations.remove(id) != nil)
        case .authenticated: Issue.record("No user was sent.")
        case .showDisconnected: #expect(!book.isConnected)
        case .forgetStored(let id, _): #expect(writes.contains(id), "its answer is shown later")
        }
      }
    }

    private func check() {
      #expect(Set(book.reads.keys) == reads)
      for read in book.reads.values { #expect(read.isLimited != book.isConnected) }
    }
  }
}
