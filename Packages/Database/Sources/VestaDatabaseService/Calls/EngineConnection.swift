import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop

/// The client's hold on its connection: its release ends the connection.
///
/// The room holds the connection itself, which would never end with a client that is dropped without a word.
final class ConnectionHandle: DatabaseConnection {
  private let connection: EngineConnection

  init(_ connection: EngineConnection) { self.connection = connection }

  deinit { connection.close() }

  func send(_ request: DatabaseRequest, id: Int) { connection.send(request, id: id) }

  func close() { connection.close() }
}

/// A connection of the engine: the order of what it asks and of what it is sent.
final class EngineConnection: Sendable {
  private struct State {
    var outbox: [DatabaseServerMessage] = []
    var isDelivering = false
    var isClosing = false
    var isEnded = false
    /// In whose name requests are made.
    var caller: CallContext
    /// How often the caller has changed, by which the end of a token finds out whether it is still the connection's.
    var changes = 0
    /// The end of the token.
    var expiry: ListenerRegistration?
    /// The verification of the connection's own caller; `nil` where there is none, or when it is over.
    var admission: Task<Void, Never>?
    /// Requests that wait while a token is being checked.
    var heldForToken: [(DatabaseRequest, Int)]?
    var operations = 0
    /// How many jobs of the connection wait or run.
    var jobs = 0
    /// Jobs that wait while a hash is being checked; `nil` while none is.
    var heldForHash: [Room.Job]?

    init(caller: CallContext) { self.caller = caller }
  }

  let session: String
  /// Whether replies of writes have nodes.
  let wantsNodes: Bool
  private let room: Room
  private let callers: CallerCheck
  private let admit: @Sendable (CallContext) async throws(DatabaseServiceError) -> CallContext
  private let receive: @Sendable (DatabaseServerMessage) -> Void
  private let state: Locked<State>

  init(
    room: Room, session: String, _ request: DatabaseConnectRequest, _ callers: CallerCheck,
    admit: @escaping @Sendable (CallContext) async throws(DatabaseServiceError) -> CallContext,
    receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) {
    self.room = room
    self.session = session
    self.callers = callers
    self.admit = admit
    self.receive = receive
    wantsNodes = request.wantsNodes
    var caller = request.context
    // A connection outlives the call that opens it.
    caller.deadline = nil
    state = Locked(State(caller: caller))
  }

  /// The user that is signed in.
  var user: String? { state.withLock { $0.caller.user?.uid } }

  /// In whose name requests are made.
  var caller: CallContext { state.withLock { $0.caller } }

  // MARK: Callers

  /// Opens the connection, when its caller has been verified.
  func begin() {
    let caller = caller
    guard callers.concerns(caller) else {
      watchExpiry()
      return room.submit(.open(self))
    }
    state.withLock { state in
      state.heldForToken = []
      state.admission = Task { await verifyFirst(caller) }
    }
  }

  private func verifyFirst(_ claimed: CallContext) async {
    do {
      setCaller(try await admit(claimed))
      room.submit(.open(self))
      let isClosing = state.withLock { state in
        state.admission = nil
        return state.isClosing
      }
      if isClosing { return room.submit(.close(self)) }
      await carryOutHeld()
    } catch {
      state.withLock { state in
        state.admission = nil
        state.isClosing = true
      }
      post([.closed(reason: "\(error)")])
      room.whenConnectionEnds()
    }
  }

  /// Changes in whose name requests are made.
  private func setCaller(_ caller: CallContext) {
    state.withLock { state in
      state.caller = caller
      state.changes += 1
    }
    watchExpiry()
  }

  /// Waits for the end of the token.
  ///
  /// A token that was accepted after its end, as in development, has none.
  private func watchExpiry() {
    let (old, end, change) = state.withLock { ($0.expiry.take(), $0.caller.user?.expiry, $0.changes) }
    old?.cancel()
    let clock = room.options.clock
    guard let end, end > clock.now() else { return }
    let timer = clock.schedule(at: end) { [weak self] in
      guard let self else { return }
      room.submit(.perform { [self] in await room.expire(self, change) })
    }
    let isLate = state.withLock { state in
      if state.changes != change || state.isClosing { return true }
      state.expiry = timer
      return false
    }
    if isLate { timer.cancel() }
  }

  /// Signs the connection out whose token has expired.
  ///
  /// - Returns: Whether it was signed in with that token still.
  func expire(_ change: Int) -> Bool {
    state.withLock { state in
      guard state.changes == change else { return false }
      state.changes += 1
      state.caller.caller = .nobody
      return true
    }
  }

  func signOut() {
    var caller = caller
    (caller.caller, caller.actingFor) = (.nobody, nil)
    setCaller(caller)
  }

  /// Verifies a credential, and makes requests in its name from here on.
  ///
  /// - Returns: Why it is not accepted; `nil` when it is.
  private func signIn(_ credential: DatabaseCredential) async -> DatabaseReply? {
    var claimed = caller
    claimed.actingFor = nil
    claimed.caller = .credential(credential.isOwner ? .bearer(credential.token) : .idToken(credential.token))
    do {
      let verified = try await admit(claimed)
      guard verified.isOwner || (!credential.isOwner && credential.override == nil) else {
        return DatabaseReply(.permissionDenied, message: "The credential is not that of an owner.")
      }
      setCaller(verified.overridden(by: credential.override))
      return nil
    } catch {
      return Self.refusal(error)
    }
  }

  /// Verifies a token of App Check; a connection whose app is not verified stays open, as its requests tell.
  private func verifyApp(_ token: String) async -> DatabaseReply? {
    var claimed = caller
    claimed.appCheck = .token(token)
    do {
      let verified = try await admit(claimed)
      state.withLock { $0.caller.appCheck = verified.appCheck }
      return nil
    } catch {
      return Self.refusal(error)
    }
  }

  private static func refusal(_ error: DatabaseServiceError) -> DatabaseReply {
    switch error.code {
    case .unauthenticated: DatabaseReply(.invalidToken, message: error.message)
    case .permissionDenied: DatabaseReply(.permissionDenied, message: error.message)
    // It is not known to be bad: the client keeps it, and tries again.
    default: DatabaseReply(.unavailable, message: "The token could not be verified: \(error)")
    }
  }

  /// The reply to a sign-in that has succeeded.
  var signedIn: DatabaseReply {
    var reply = DatabaseReply.ok
    guard let user = caller.user else { return reply }
    reply.auth = ["uid": .string(user.uid), "token": .object(user.claims)]
    reply.expires = user.expiry.map { $0 / 1_000_000 }
    return reply
  }

  // MARK: Requests

  func send(_ request: DatabaseRequest, id: Int) {
    enum Way { case none, atOnce, verified }
    let way = state.withLock { state -> Way in
      if state.isClosing { return .none }
      state.heldForToken?.append((request, id))
      if state.heldForToken != nil { return .none }
      guard bringsToken(request) else { return .atOnce }
      // With the question whether requests are held: another thread may send the next one, with a token as well.
      state.heldForToken = [(request, id)]
      return .verified
    }
    switch way {
    case .none: break
    case .atOnce: room.take(request, of: self, id)
    case .verified: Task { await carryOutHeld() }
    }
  }

  func close() {
    let (isFirst, admission, expiry) = state.withLock { state in
      defer { state.isClosing = true }
      return (!state.isClosing, state.admission, state.expiry.take())
    }
    expiry?.cancel()
    guard isFirst else { return }
    // A connection that is not open yet is ended by its verification.
    if let admission { admission.cancel() } else { room.submit(.close(self)) }
  }

  /// Whether a request brings something that has to be verified.
  private func bringsToken(_ request: DatabaseRequest) -> Bool {
    switch request {
    case .authenticate: true
    case .appCheck: callers.apps != nil
    default: false
    }
  }

  private func nextHeld() -> (DatabaseRequest, Int)? {
    state.withLock { state in
      guard state.heldForToken?.isEmpty == false else {
        state.heldForToken = nil
        return nil
      }
      return state.heldForToken?.removeFirst()
    }
  }

  /// Carries out what waits for a token, in order; a second token holds up what follows it.
  private func carryOutHeld() async {
    while let (request, id) = nextHeld() {
      switch request {
      case .authenticate(let credential):
        if let refusal = await signIn(credential) {
          post([.reply(id, refusal)])
        } else {
          room.submit(.signedIn(self, id))
        }
      case .appCheck(let token) where callers.apps != nil:
        if let refusal = await verifyApp(token) { post([.reply(id, refusal)]) } else { post([.reply(id, .ok)]) }
      default: room.submit(.request(self, request, id))
      }
    }
  }

  /// Whether a job of the connection waits or runs.
  var hasJobs: Bool { state.withLock { $0.jobs > 0 } }

  func jobBegins() { state.withLock { $0.jobs += 1 } }

  func jobEnds() { state.withLock { $0.jobs -= 1 } }

  /// Lets later jobs wait.
  func suspend() { state.withLock { $0.heldForHash = $0.heldForHash ?? [] } }

  /// Keeps a job for later where jobs wait; the end of the connection never does.
  ///
  /// - Returns: Whether it waits.
  func keep(_ job: Room.Job) -> Bool {
    if case .close = job { return false }
    return state.withLock { state in
      state.heldForHash?.append(job)
      return state.heldForHash != nil
    }
  }

  /// Returns the jobs that have waited; later ones do not wait.
  func resume() -> [Room.Job] {
    state.withLock { state in
      defer { state.heldForHash = nil }
      return state.heldForHash ?? []
    }
  }

  /// The number of the next operation for the end of the session.
  func nextOperation() -> Int {
    state.withLock { state in
      state.operations += 1
      return state.operations
    }
  }

  // MARK: Messages

  /// Puts messages after the waiting ones; `deliver()` sends them.
  func enqueue(_ messages: [DatabaseServerMessage]) {
    state.withLock { state in
      guard !state.isEnded else { return }
      state.outbox += messages
      if messages.contains(where: { if case .closed = $0 { true } else { false } }) { state.isEnded = true }
    }
  }

  /// Delivers what waits, unless another thread is doing so.
  func deliver() {
    guard
      state.withLock({ state in
        defer { state.isDelivering = true }
        return !state.isDelivering
      })
    else { return }
    while true {
      let messages = state.withLock { state in
        defer { state.outbox = [] }
        if state.outbox.isEmpty { state.isDelivering = false }
        return state.outbox
      }
      if messages.isEmpty { return }
      for message in messages { receive(message) }
    }
  }

  func post(_ messages: [DatabaseServerMessage]) {
    enqueue(messages)
    deliver()
  }
}

extension CallContext {
  /// The context of an owner who acts with other variables of the rules.
  fileprivate func overridden(by override: DatabaseCredential.Override?) -> CallContext {
    guard let override else { return self }
    var copy = self
    copy.actingFor = caller
    switch override {
    case .nobody: copy.caller = .nobody
    case .claims(let auth):
      let uid = auth["uid"]?.string ?? ""
      copy.caller = .user(VerifiedUser(uid: uid, claims: auth["token"]?.object ?? JSONObject()))
    }
    return copy
  }
}
