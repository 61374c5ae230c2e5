import VestaConcurrency
import VestaEngineInterop
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// Delivery to connected registrations.
//
// `DispatchMachine` decides which connections a message reaches at once and which ones read it, with a worked example;
// `DeliveryWindow` decides what one connection takes. This extension reads from the store, writes the results down, and
// hands over what the two decide.
extension MessagingEngine {
  // MARK: Connecting

  func open(_ connection: PendingConnection, token: String, _ context: CallContext) async {
    do {
      _ = try await frame.admit(context)
      let session = try await makeSession(connection, token: token)
      guard connection.begin(session) else { return }
      let (isAdded, earlier) = table.add(session)
      earlier?.end(MessagingServiceError(.aborted, "The registration has connected again."))
      guard isAdded else { throw MessagingServiceError(.unavailable, "The messaging service was shut down.") }
      if connection.isCancelled { return table.remove(session) }
      table.start(after: try await store().read { try await MessagingReader(reader: $0).lastNumber() })
      await deliverWaiting(to: session)
    } catch {
      connection.end(frame.failure(error))
    }
  }

  private func makeSession(_ connection: PendingConnection, token: String) async throws -> Session {
    let (senderID, store) = (senderID, try await store())
    let (now, lifetime) = (time(), options.registrationLifetime.microseconds)
    let (key, record, number) = try await store.read { reader in
      let reader = MessagingReader(reader: reader, usualSenderID: senderID)
      let (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
      return (key, record, try await reader.lastNumber())
    }
    // A connection is a sign of life.
    if now - record.lastSeenTime > 86_400_000_000 { try await write { try await $0.touch(key) } }
    return Session(
      key: key, platform: record.platform, token: token, startNumber: number, window: options.deliveryWindow,
      longestTrail: options.tuning.longestTrail, runner: runner, onEnd: { connection.end($0) },
      receive: { connection.receive($0) })
  }

  // MARK: Waiting messages

  /// Delivers what waits for a connection, until it is settled or its window is full.
  func deliverWaiting(to session: Session) async {
    guard session.beginReading() else { return }
    repeat {
      do {
        while try await deliverOnePage(to: session) {}
      } catch {
        table.remove(session, ending: frame.failure(error))
      }
    } while !session.endReading()
  }

  /// Reads and delivers one page; returns whether to read again at once.
  private func deliverOnePage(to session: Session) async throws -> Bool {
    let (limit, store) = (session.freeWindow, try await store())
    guard limit > 0, session.isLive else { return false }
    let (inFlight, broadcasts) = session.underWay
    let request = PendingLoad.Request(
      key: session.key, token: session.token, platform: session.platform, inFlight: inFlight,
      broadcastsInFlight: broadcasts, limit: limit, maximumWaiting: options.maximumWaiting, now: time(),
      tuning: options.tuning)
    let load = try await store.read { try await PendingLoad(MessagingReader(reader: $0), request) }
    if load.outcome.isWorthWriting {
      let (outcome, key) = (load.outcome, session.key)
      session.noteDropped(try await write { try await $0.noteLoad(outcome, for: key) })
    }
    // Immediate messages are not read, they are dispatched: a later message must not arrive before one.
    await table.waitForDispatch(upTo: load.lastNumber) { startDispatching() }
    guard deliverLoad(load, limit, to: session), !load.isTruncated else {
      // An acknowledgement in between has made room without starting to read: the window was not full.
      return session.freeWindow > 0
    }
    session.advance(to: load.lastNumber)
    return !table.endLoading(session, topics: load.topics, upTo: load.lastNumber)
  }

  /// Delivers what was read, and the immediate messages that arrived since; answers false when there was not
  /// enough room.
  private func deliverLoad(_ load: PendingLoad, _ limit: Int, to session: Session) -> Bool {
    let instants = table.takeInstants(session, upTo: load.lastNumber).filter(load.isFor)
    var rest = load.merged(with: instants)[...]
    for _ in 0..<limit {
      guard let message = rest.first else { break }
      let delivery = message.delivery(platform: session.platform, senderID: senderID)
      guard deliver(message, as: delivery, to: session) else { break }
      rest.removeFirst()
    }
    let left = Set(rest.map(\.number))
    table.returnInstants(session, instants.filter { left.contains($0.number) })
    return left.isEmpty
  }

  /// Answers false when the window of the connection is full.
  private func deliver(_ message: DispatchedMessage, as delivery: PushDelivery, to session: Session) -> Bool {
    let isBroadcast = message.record.kind != .direct
    switch session.deliver(delivery, number: message.number, isBroadcast: isBroadcast) {
    case .delivered: countDelivery()
    case .superfluous: break
    case .windowIsFull: return false
    }
    return true
  }

  /// Makes room for more after an acknowledgement.
  func makeRoom(after numbers: [Int64], of key: RegistrationKey, token: String) {
    guard let session = table.session(key), session.token == token else { return }
    let (hasRoom, isTrailLong) = session.acknowledged(numbers)
    guard hasRoom || isTrailLong else { return }
    // Nothing is dispatched to a connection that reads: it must know what is under way. Single acknowledgements are
    // forgotten when it moves its cursor.
    table.markLoading(session, missed: 0)
    Task { await deliverWaiting(to: session) }
  }

  // MARK: Arriving messages

  /// Dispatches messages that were committed, unless another call is doing so.
  func startDispatching() {
    guard table.beginDispatch() else { return }
    Task { await dispatchNewMessages() }
  }

  private func dispatchNewMessages() async {
    repeat {
      while let position = table.position {
        do {
          let awaited = table.awaited
          let records = try await newRecords(after: position)
          for (number, record) in records { dispatch(number, record) }
          // Messages up to there that were not found have been removed: no call needs to wait for them.
          if records.count < max(1, options.tuning.longestPage) { table.advance(to: awaited) }
          table.wakeWaiting()
          if records.isEmpty { break }
        } catch {
          // The other messages are dispatched a little later; nothing may be sent until then.
          _ = options.clock.schedule(after: options.tuning.dispatchPause) { [weak self] in self?.startDispatching() }
          break
        }
      }
    } while !table.endDispatch()
  }

  /// The messages after a position, a page of them; a damaged one is `nil`, and stops none of the others.
  private func newRecords(after position: Int64) async throws -> [(Int64, MessageRecord?)] {
    let limit = max(1, options.tuning.longestPage)
    return try await store().read { reader in
      try await reader.entries(in: Keys.messages(after: position), limit: limit).map { entry in
        (try Keys.number(of: entry.key), StoreRow.intact(MessageRecord.self, entry.value, entry.key))
      }
    }
  }

  private func dispatch(_ number: Int64, _ record: MessageRecord?) {
    guard let record, let message = DispatchedMessage(number: number, record: record) else {
      table.advance(to: number)
      if let record, record.kind == .subscriptionChange { reload(record.registration, number) }
      return
    }
    // A message to a topic reaches many connections of few platforms.
    var deliveries: [String: PushDelivery] = [:]
    for session in table.recipients(of: message) {
      guard session.wants(message) else {
        session.withdraw(number)
        continue
      }
      let delivery = deliveries[session.platform] ?? message.delivery(platform: session.platform, senderID: senderID)
      deliveries[session.platform] = delivery
      guard !deliver(message, as: delivery, to: session) else { continue }
      table.markLoading(session, missed: number, message)
      // An acknowledgement in between found nothing to do.
      if session.freeWindow > 0 { Task { await deliverWaiting(to: session) } }
    }
  }

  /// Has a connection whose subscriptions have changed read them again.
  private func reload(_ key: RegistrationKey, _ number: Int64) {
    guard let session = table.session(key) else { return }
    table.markLoading(session, missed: number)
    Task { await deliverWaiting(to: session) }
  }
}
