import VestaDatabaseBackend
import VestaDatabaseModel

/// The requests of a client: the unsent ones, the unanswered ones, and the order in which replies take effect;
/// pure.
///
/// ``Repo`` performs its actions in their order. A request gets its number when it is sent (``number(of:)``), because
/// listens are sent in between. When a connection ends its numbers mean nothing: writes and reads are sent again on the
/// next connection; transactions and operations for the end of the connection end, because their outcome is not known.
///
/// Worked example: a write while a listen is under way.
///
/// | event | actions |
/// |---|---|
/// | `connected` | nothing waits |
/// | `listen(/chat)`, sent as 1 | |
/// | `add(write 9 at /chat/a)`, `sendWrites` | send the write, which gets the number 2 |
/// | `replied(2, ok)` | nothing: data of the listen may be older than the write, so that its answer waits |
/// | `replied(1, ok)` | show the answer of the listen |
/// | `shown` | show the answer of write 9 |
///
/// - Writes are sent in their order. One that the device is to keep first (`isKept`) holds up all that follow.
/// - While a listen has no reply, answers of writes wait, in order; so do the ones after an answer that waits. They
///   wait for the next connection where this one ends first: without its write, the view would show older data.
/// - A read without a connection has a limited time (``Action/limitRead(_:)``).
struct RequestBook: Sendable {
  /// The reason of a request, which decides about its reply.
  enum Purpose: Sendable, Equatable {
    /// The reply is of no interest.
    case notice
    /// The current user; the first one of a connection is followed by everything else.
    case authentication(isFirst: Bool)
    /// A listen, and the number of the asking.
    case listen(SyncQuery, Int)
    case put(Int)
    case read(Int)
    /// An operation for the end of the connection.
    case disconnectOperation(Int, DatabaseRequest)
  }

  /// The origin of a write.
  enum Content: Sendable, Equatable {
    /// A write of the program; `isStored` when the device keeps it until it is answered.
    case write(Int, at: DatabasePath, isStored: Bool)
    /// Transactions, sent together.
    case transactions([Int], at: DatabasePath)

    fileprivate var storedWrite: Int? { if case .write(let id, _, isStored: true) = self { id } else { nil } }
    fileprivate var isTransaction: Bool { if case .transactions = self { true } else { false } }
    fileprivate var isUnstoredWrite: Bool { if case .write(_, _, isStored: false) = self { true } else { false } }
  }

  /// A write that waits for its answer.
  private struct Put: Sendable {
    let request: DatabaseRequest
    let content: Content
    /// Whether the write may be sent: the device has stored it, or stores no writes.
    ///
    /// After a crash, older stored writes would be sent again over one that was sent before it was stored.
    var isKept: Bool
    /// Whether the service has been asked on the current connection.
    var isSent = false
    /// Whether its answer has arrived, and waits for the data of a listen.
    var isAnswered = false
  }

  /// A read that waits for the service.
  struct Read: Sendable, Equatable {
    let id: Int
    let path: DatabasePath
    let spec: DatabaseQuerySpec
    /// Whether its time is limited, as it waits for a connection.
    fileprivate(set) var isLimited = false
  }

  /// The end of a read.
  enum ReadOutcome: Sendable, Equatable {
    case node(DatabaseNode)
    case failure(String)
  }

  /// A command for the performer.
  enum Action: Sendable, Equatable {
    case send(DatabaseRequest, Purpose)
    /// Ends the read after a time, with ``readTimedOut(_:_:)``.
    case limitRead(Int)
    case unlimitRead(Int)
    case endRead(Read, ReadOutcome)
    /// Takes over the answer to a listen, unless it is of an earlier one, then calls ``shown()``.
    case showListen(SyncQuery, DatabaseReply, isCurrent: Bool)
    case showAnswer(Content, DatabaseReply)
    /// Removes a write from the device, though its answer is not shown yet; what an accepted one has written stays.
    case forgetStored(Int, isAccepted: Bool)
    /// Ends a write, or transactions, without an answer of the service.
    case endPut(Content, DatabaseError)
    case endDisconnectOperation(Int, DatabaseError?)
    case authenticated(DatabaseReply, isFirst: Bool)
    /// Shows the end of the connection, and what the service writes at it.
    case showDisconnected([DatabasePathValue])
  }

  private(set) var isConnected = false
  /// The reads that wait for the service, by their numbers.
  private(set) var reads: [Int: Read] = [:]

  private var lastNumber = 0
  private var pending: [Int: Purpose] = [:]
  private var puts: [Int: Put] = [:]
  private var nextPut = 1
  /// The first write that has not been sent on this connection.
  private var nextPutToSend = 1
  /// The operations for the end of the connection that wait for one.
  private var operations: [(id: Int, request: DatabaseRequest)] = []
  /// The writes of the service at the end of the connection.
  private var disconnectWrites = WriteTrie.empty
  private var listensUnderWay = 0
  private var lastListen = 0
  /// The listens that the service has been asked for, by the number of the asking.
  private var listens: [SyncQuery: Int] = [:]
  /// The answers that wait for the data of a listen.
  private var held: [(put: Int, reply: DatabaseReply)] = []

  // MARK: The connection

  /// The service knows the current user, and is to be asked for everything that waits.
  mutating func connected() -> [Action] {
    isConnected = true
    nextPutToSend = puts.keys.min() ?? nextPut
    // Without a listen no data follows that they would wait for.
    let answers = listensUnderWay == 0 ? takeHeld() : []
    var actions = answers + sendWrites() + reads.keys.sorted().flatMap { send(read: $0) }
    for (id, request) in operations { actions.append(.send(request, .disconnectOperation(id, request))) }
    operations = []
    return actions
  }

  /// The connection has ended.
  mutating func disconnected() -> [Action] {
    isConnected = false
    let operations = pending.sorted { $0.key < $1.key }.compactMap { entry -> Action? in
      guard case .disconnectOperation(let id, _) = entry.value else { return nil }
      return .endDisconnectOperation(id, Self.unknownOperation)
    }
    (pending, listensUnderWay, listens) = ([:], 0, [:])
    let limits = reads.keys.sorted().flatMap { limit(read: $0) }
    let writes = disconnectWrites.values.map { DatabasePathValue($0.path, $0.node) }
    disconnectWrites = .empty
    // A program that ends before the next connection must not send them again, over data that is newer by then.
    let answered = held.compactMap { put, reply in
      puts[put]?.content.storedWrite.map { Action.forgetStored($0, isAccepted: reply.status == .ok) }
    }
    return answered + operations + limits + [.showDisconnected(writes)] + endSentTransactions()
  }

  /// Transactions that were sent end: it is not known whether the service has accepted them.
  private mutating func endSentTransactions() -> [Action] {
    let lost = takePuts { $0.isSent && !$0.isAnswered && $0.content.isTransaction }
    for id in puts.keys { puts[id]?.isSent = false }
    return lost.map { .showAnswer($0.content, Self.unknownTransaction) }
  }

  private static let unknownOperation = DatabaseError(
    status: .disconnect, message: "Client was disconnected while an operation for the disconnect was being queued")

  private static let unknownTransaction = DatabaseReply(
    .disconnect, message: "Client was disconnected while running a transaction")

  // MARK: Replies

  /// The number of a request that is being sent.
  mutating func number(of purpose: Purpose) -> Int {
    lastNumber += 1
    pending[lastNumber] = purpose
    return lastNumber
  }

  /// The service has answered a request.
  mutating func replied(_ number: Int, _ reply: DatabaseReply) -> [Action] {
    switch pending.removeValue(forKey: number) {
    case nil, .notice: return []
    case .authentication(let isFirst): return [.authenticated(reply, isFirst: isFirst)]
    case .listen(let query, let number):
      listensUnderWay -= 1
      // The reply of a listen that was ended, and perhaps begun again, says nothing about the current one.
      return [.showListen(query, reply, isCurrent: listens[query] == number)]
    case .put(let id):
      guard listensUnderWay == 0, held.isEmpty else {
        held.append((id, reply))
        puts[id]?.isAnswered = true
        return []
      }
      return answer(id, reply)
    case .read(let id): return end(read: id, reply.status == .ok ? .node(reply.node) : .failure(reply.message))
    case .disconnectOperation(let id, let request): return operationReplied(id, request, reply)
    }
  }

  /// The answer to a listen was taken over: answers that wait for it follow.
  mutating func shown() -> [Action] { listensUnderWay == 0 ? takeHeld() : [] }

  private mutating func takeHeld() -> [Action] {
    let answers = held
    held = []
    return answers.flatMap { answer($0.put, $0.reply) }
  }

  private mutating func answer(_ id: Int, _ reply: DatabaseReply) -> [Action] {
    puts.removeValue(forKey: id).map { [.showAnswer($0.content, reply)] } ?? []
  }

  private mutating func operationReplied(
    _ id: Int, _ request: DatabaseRequest, _ reply: DatabaseReply
  ) -> [Action] {
    guard reply.status == .ok else {
      return [.endDisconnectOperation(id, DatabaseError(status: reply.status, message: reply.message))]
    }
    switch request {
    case .onDisconnectPut(let path, let node): disconnectWrites.add(node, at: path)
    case .onDisconnectMerge(let path, let values):
      for value in values { disconnectWrites.add(value.node, at: path.appending(value.path)) }
    case .onDisconnectCancel(let path): disconnectWrites.remove(path)
    default: break
    }
    return [.endDisconnectOperation(id, nil)]
  }

  // MARK: Listens

  /// A listen is being sent.
  mutating func listen(_ query: SyncQuery) -> Purpose {
    listensUnderWay += 1
    lastListen += 1
    listens[query] = lastListen
    return .listen(query, lastListen)
  }

  /// A listen has ended; its reply is of no interest.
  mutating func unlisten(_ query: SyncQuery) { listens[query] = nil }

  // MARK: Writes

  /// A write is to be sent, now or with a later connection.
  ///
  /// - Parameter isKept: False for one that the device is to keep first; ``kept(_:)`` follows.
  /// - Returns: The number of the write.
  mutating func add(_ request: DatabaseRequest, _ content: Content, isKept: Bool = true) -> Int {
    defer { nextPut += 1 }
    puts[nextPut] = Put(request: request, content: content, isKept: isKept)
    return nextPut
  }

  /// The device keeps a write.
  mutating func kept(_ id: Int) -> [Action] {
    puts[id]?.isKept = true
    return sendWrites()
  }

  /// Sends the writes that can be sent, in their order.
  mutating func sendWrites() -> [Action] {
    var actions: [Action] = []
    while isConnected, nextPutToSend < nextPut {
      let id = nextPutToSend
      if let put = puts[id], !put.isAnswered {
        guard put.isKept else { break }
        puts[id]?.isSent = true
        actions.append(.send(put.request, .put(id)))
      }
      nextPutToSend += 1
    }
    return actions
  }

  /// The service refuses everything: writes that the device does not keep end.
  mutating func refuseWrites(_ reply: DatabaseReply) -> [Action] {
    takeHeld() + takePuts(where: \.content.isUnstoredWrite).map { .showAnswer($0.content, reply) }
  }

  /// All writes that the service has not answered are taken back, as if it had refused them; transactions end
  /// elsewhere.
  mutating func takeBackWrites(_ reply: DatabaseReply) -> [Action] {
    takeHeld() + takePuts { _ in true }.filter { !$0.content.isTransaction }.map { .showAnswer($0.content, reply) }
  }

  /// The transactions have ended, and are not sent.
  mutating func dropTransactions() { puts = puts.filter { !$0.value.content.isTransaction } }

  /// All writes end without an answer.
  mutating func endPuts(_ error: DatabaseError) -> [Action] {
    takeHeld() + takePuts { _ in true }.map { .endPut($0.content, error) }
  }

  private mutating func takePuts(where isTaken: (Put) -> Bool) -> [Put] {
    let taken = puts.filter { isTaken($0.value) }.sorted { $0.key < $1.key }
    for (id, _) in taken { puts[id] = nil }
    return taken.map(\.value)
  }

  // MARK: Reads

  /// A query is to be read once.
  mutating func read(_ id: Int, _ path: DatabasePath, _ spec: DatabaseQuerySpec) -> [Action] {
    reads[id] = Read(id: id, path: path, spec: spec)
    return isConnected ? send(read: id) : limit(read: id)
  }

  /// The caller of a read has left.
  mutating func giveUp(read id: Int) -> [Action] {
    reads.removeValue(forKey: id).map { $0.isLimited ? [.unlimitRead(id)] : [] } ?? []
  }

  /// A read has waited for a connection for too long.
  mutating func readTimedOut(_ id: Int, _ reason: String) -> [Action] {
    // A timer that has fired just before the read was sent does not count.
    reads[id]?.isLimited == true ? end(read: id, .failure(reason)) : []
  }

  /// All reads end without an answer.
  mutating func endReads(_ reason: String) -> [Action] {
    reads.keys.sorted().flatMap { end(read: $0, .failure(reason)) }
  }

  private mutating func send(read id: Int) -> [Action] {
    guard let read = reads[id] else { return [] }
    reads[id]?.isLimited = false
    return (read.isLimited ? [.unlimitRead(id)] : []) + [.send(.get(read.path, read.spec), .read(id))]
  }

  private mutating func limit(read id: Int) -> [Action] {
    guard reads[id]?.isLimited == false else { return [] }
    reads[id]?.isLimited = true
    return [.limitRead(id)]
  }

  private mutating func end(read id: Int, _ outcome: ReadOutcome) -> [Action] {
    guard var read = reads.removeValue(forKey: id) else { return [] }
    let wasLimited = read.isLimited
    read.isLimited = false
    return (wasLimited ? [.unlimitRead(id)] : []) + [.endRead(read, outcome)]
  }

  // MARK: The end of the connection

  /// The service is to write at the end of the connection.
  mutating func addDisconnectOperation(_ id: Int, _ request: DatabaseRequest) -> [Action] {
    if isConnected { return [.send(request, .disconnectOperation(id, request))] }
    operations.append((id, request))
    return []
  }

  /// The operations that wait for a connection end.
  mutating func endOperations(_ error: DatabaseError) -> [Action] {
    defer { operations = [] }
    return operations.map { .endDisconnectOperation($0.id, error) }
  }
}
