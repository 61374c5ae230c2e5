import CVestaPostgres

/// One connection of libpq, which never waits: it is notified when its socket is ready, and does what it can.
///
/// Lives on the thread of its loop alone. Requests are pipelined: each ends with a sync, so the failure of one does not
/// touch the next.
final class PostgresLink {
  typealias Completion = @Sendable (Answer) -> Void
  /// Takes the text of a notification; `nil` at the end of the connection.
  typealias Notify = @Sendable (String?) -> Void

  private enum Expected {
    case prepare(sql: String)
    case statement
    case sync
  }

  private struct Request {
    let completion: Completion
    var answer = Answer()
  }

  private let connection: OpaquePointer
  private let notify: Notify?
  private var opened: Completion?
  private var isConnecting = true
  private var wantsToWrite = true
  private var expected: [Expected] = []
  private var requests: [Request] = []
  private var prepared: [String: String] = [:]
  private var names = 0
  private(set) var isDead = false
  /// How long the connection may take to open.
  private let allowance: Duration
  /// How many requests have been answered.
  private(set) var answered = 0

  /// - Parameters:
  ///   - info: The connection string.
  ///   - target: Which of its hosts.
  ///   - allowance: How long the connection may take to open.
  ///   - notify: Called for each notification, and at the end.
  ///   - opened: Called when the connection is there, or has failed.
  init?(
    _ info: ConnectionInfo, at target: ConnectionTarget, within allowance: Duration, notify: Notify?,
    opened: @escaping Completion
  ) {
    guard let connection = PostgresLink.start(info, target) else { return nil }
    self.connection = connection
    self.allowance = allowance
    self.notify = notify
    self.opened = opened
    // Notices are for people at a terminal.
    PQsetNoticeProcessor(connection, { _, _ in }, nil)
    // So that a refusal has its code.
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    if PQstatus(connection) == CONNECTION_BAD { die(message) }
  }

  /// The keywords after the connection string override it.
  private static func start(_ info: ConnectionInfo, _ target: ConnectionTarget) -> OpaquePointer? {
    let password = info.password.map { [("password", $0)] } ?? []
    let keywords = [("dbname", info.text)] + password + target.keywords
    return withTexts(keywords.map(\.0)) { names in
      withTexts(keywords.map(\.1)) { values in PQconnectStartParams(names, values, 1) }
    }
  }

  /// Gives the addresses of strings, and none after the last one.
  private static func withTexts<Result>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    // Unsafe pointers, used inside the closure only: libpq copies the texts.
    let all: [CChar] = texts.flatMap { text -> [CChar] in text.utf8.map { CChar(bitPattern: $0) } + [0] }
    return all.withUnsafeBufferPointer { buffer in
      var pointers: [UnsafePointer<CChar>?] = []
      var position = 0
      for text in texts {
        pointers.append(buffer.baseAddress.map { $0 + position })
        position += text.utf8.count + 1
      }
      return body(pointers + [nil])
    }
  }

  deinit { PQfinish(connection) }

  var watched: Watched { Watched(descriptor: PQsocket(connection), wantsToWrite: wantsToWrite) }

  var hasWork: Bool { isConnecting || !requests.isEmpty }

  /// How long the next answer may take.
  func allowance(answering patience: Duration) -> Duration { isConnecting ? allowance : patience }

  private var message: String {
    var text = String(cString: PQerrorMessage(connection))
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }

  // MARK: Sending

  func run(_ statements: [Statement], _ completion: @escaping Completion) {
    guard !isDead else { return completion(Answer(failure: .unsent("The connection is closed."))) }
    requests.append(Request(completion: completion))
    for statement in statements where !send(statement) { return die(message) }
    expected.append(.sync)
    guard PQpipelineSync(connection) == 1 else { return die(message) }
    flush()
  }

  private func send(_ statement: Statement) -> Bool {
    let values = statement.parameters.map(\.encoded)
    let types = statement.parameters.map { Oid($0.type) }
    let formats = [Int32](repeating: 1, count: values.count)
    let lengths = values.map { Int32($0.count) }
    guard statement.isPrepared else {
      expected.append(.statement)
      return withPointers(to: values) { pointers in
        PQsendQueryParams(connection, statement.sql, Int32(values.count), types, pointers, lengths, formats, 1) == 1
      }
    }
    guard prepared[statement.sql] != nil || prepare(statement.sql, types) else { return false }
    expected.append(.statement)
    return withPointers(to: values) { pointers in
      PQsendQueryPrepared(
        connection, prepared[statement.sql], Int32(values.count), pointers, lengths, formats, 1) == 1
    }
  }

  /// Sends a statement to be prepared.
  ///
  /// - Returns: Whether it was sent.
  private func prepare(_ sql: String, _ types: [Oid]) -> Bool {
    // A name is never used again: a statement that failed is forgotten here, and its name may be known there.
    names += 1
    let name = "s\(names)"
    prepared[sql] = name
    expected.append(.prepare(sql: sql))
    return PQsendPrepare(connection, name, sql, Int32(types.count), types) == 1
  }

  /// Gives the addresses of values; an empty one has an address too, as none would mean null.
  private func withPointers(to values: [[UInt8]], _ body: ([UnsafePointer<CChar>?]) -> Bool) -> Bool {
    // Unsafe pointers, used inside the closure only: libpq copies the values.
    let all = Array(values.joined()) + [0]
    return all.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return false }
      return base.withMemoryRebound(to: CChar.self, capacity: buffer.count) { start in
        var pointers: [UnsafePointer<CChar>?] = []
        var position = 0
        for value in values {
          pointers.append(start + position)
          position += value.count
        }
        return body(pointers)
      }
    }
  }

  private func flush() {
    let left = PQflush(connection)
    if left < 0 { return die(message) }
    wantsToWrite = left > 0
  }

  // MARK: Receiving

  /// Continues after the socket has become ready.
  func advance() {
    if isDead { return }
    if isConnecting { return connect() }
    guard PQconsumeInput(connection) == 1 else { return die(message) }
    flush()
    if !isDead { receive() }
  }

  private func connect() {
    switch PQconnectPoll(connection) {
    case PGRES_POLLING_WRITING: wantsToWrite = true
    case PGRES_POLLING_READING: wantsToWrite = false
    case PGRES_POLLING_OK:
      isConnecting = false
      wantsToWrite = false
      guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else { return die(message) }
      let opened = opened
      self.opened = nil
      opened?(Answer())
    default: die(message)
    }
  }

  private func receive() {
    var empty = 0
    while !expected.isEmpty, !isDead, PQisBusy(connection) == 0 {
      guard let result = PQgetResult(connection) else {
        // Each statement's results end with nothing; the second one in a row means that none are left.
        empty += 1
        if empty > 1 { break }
        continue
      }
      empty = 0
      take(result)
      PQclear(result)
    }
    passOnNotifications()
    if PQstatus(connection) == CONNECTION_BAD { die(message) }
  }

  private func passOnNotifications() {
    while let notification = PQnotifies(connection) {
      let text = notification.pointee.extra.map { String(cString: $0) } ?? ""
      PQfreemem(notification)
      notify?(text)
    }
  }

  private func take(_ result: OpaquePointer) {
    guard !expected.isEmpty, !requests.isEmpty else { return }
    let status = PQresultStatus(result)
    if status == PGRES_FATAL_ERROR, PQstatus(connection) == CONNECTION_BAD { return die(message) }
    switch (expected.removeFirst(), status) {
    case (.sync, _):
      let request = requests.removeFirst()
      answered += 1
      request.completion(request.answer)
    case (.prepare(let sql), PGRES_FATAL_ERROR), (.prepare(let sql), PGRES_PIPELINE_ABORTED):
      prepared[sql] = nil
      note(result)
    case (.prepare, _): return
    case (.statement, PGRES_TUPLES_OK): requests[0].answer.rows.append(rows(of: result))
    case (.statement, PGRES_COMMAND_OK):
      requests[0].answer.rows.append(Rows(affected: Int(String(cString: PQcmdTuples(result))) ?? 0))
    case (.statement, _): note(result)
    }
  }

  private func note(_ result: OpaquePointer) {
    guard requests[0].answer.failure == nil, PQresultStatus(result) == PGRES_FATAL_ERROR else { return }
    // 'C' is the field of the code, 'M' that of the message.
    let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    let text = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) } ?? message
    requests[0].answer.failure = .refused(state: state, message: text)
  }

  private func rows(of result: OpaquePointer) -> Rows {
    let (count, columns) = (PQntuples(result), PQnfields(result))
    var rows = Rows(affected: Int(count))
    rows.rows.reserveCapacity(Int(count))
    for row in 0..<count {
      rows.rows.append(
        (0..<columns).map { column in
          if PQgetisnull(result, row, column) == 1 { return nil }
          let length = Int(PQgetlength(result, row, column))
          // Unsafe pointer, copied from at once.
          let bytes = UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length)
          return [UInt8](bytes)
        })
    }
    return rows
  }

  // MARK: Ending

  /// Ends the link; all that was asked and not answered fails.
  func die(_ reason: String) {
    guard !isDead else { return }
    isDead = true
    let failure = isConnecting ? PostgresFailure(connecting: reason) : .lost(reason)
    let waiting = requests
    requests = []
    expected = []
    opened?(Answer(failure: failure))
    opened = nil
    // Earlier failures were refusals while the server went down.
    for request in waiting { request.completion(Answer(failure: request.answer.failure ?? failure)) }
    // A listener asks, and learns of the end.
    notify?(nil)
  }
}
