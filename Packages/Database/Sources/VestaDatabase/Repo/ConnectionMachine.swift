import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop

/// The connection of a client: when it is opened, with which tokens, and what its end means; pure.
///
/// ``Repo`` performs its actions in their order. The pauses are a ``LinkMachine``'s; this machine adds the steps
/// of one connection, the reasons for having none, and the tokens.
///
/// ```
/// disconnected ──▶ gettingToken ──▶ connecting ──▶ authenticating ──▶ connected
///   ▲   ▲  │                │            │               │                │
///   │   │  └───── waiting ◀─┴────────────┴───────────────┴────────────────┘ ended, and no interruption
///   │   └──────────────────────────────────────────────────────────────────  interrupted
/// ```
///
/// Worked example, with pauses of 1 s and 1.3 s, a token, and times in milliseconds:
///
/// | event | actions | phase |
/// |---|---|---|
/// | `resumed(waitingForFirstUse)` | fetch the tokens for attempt 1 | gettingToken |
/// | `gotTokens(t, attempt 1)` | open attempt 1 | connecting |
/// | `opened` | cancel the timer, show the offset of the time, authenticate with t | authenticating |
/// | `authenticated(ok)` | restore what the service has to know | connected |
/// | `ended` after 5 s | note the loss, cancel the timer, clean up | disconnected |
/// | `cleanedUp` | wait 1 s, because the connection was short | waiting |
/// | `pauseEnded` | fetch the tokens for attempt 3 | gettingToken |
///
/// Reports of an earlier connection are ignored: the performer asks ``isCurrent(_:)``.
struct ConnectionMachine: Sendable {
  /// The state of a client's connection to the service.
  enum Phase: Sendable, Equatable {
    case disconnected
    case waiting
    case gettingToken
    case connecting
    case authenticating
    case connected
  }

  /// Why a client does not connect.
  enum Interruption: Sendable, Hashable {
    /// Nothing has been asked yet.
    case waitingForFirstUse
    /// `goOffline` was called.
    case offline
    /// The service has sent the client away.
    case killed
    /// The app is being deleted.
    case shutDown
  }

  /// Something that is worth a message in the log.
  enum Note: Sendable, Equatable {
    /// The database can be used again.
    case recovered
    case lost(String)
    case refused(String)
    case tokenRefused(status: String, reason: String)
  }

  /// A command for the performer.
  enum Action: Sendable, Equatable {
    /// Calls ``pauseEnded(at:)`` after a time, in place of an earlier timer.
    case wait(Duration)
    case cancelTimer
    /// Calls ``gotTokens(_:appCheck:attempt:)`` or ``tokensFailed(attempt:at:)``.
    case fetchTokens(attempt: Int, forcesRefresh: Bool)
    /// Opens a connection, and calls ``openingTimedOut(attempt:at:)`` when that takes long.
    case open(attempt: Int, lastSession: String?)
    case close
    /// Ends what belongs to the connection, then calls ``cleanedUp(at:random:)``.
    case cleanUp
    /// Sends the token of the current user, or that there is none.
    case authenticate(String?, isFirst: Bool)
    case sendAppCheck(String)
    /// Shows the difference between the time of the service and this device's, in milliseconds.
    case showTimeOffset(Int64)
    /// Sends what the service has to know of this client.
    case restore
    /// Ends what waits for a service that cannot serve the database.
    case refuse(String)
    case note(Note)
  }

  /// Why the service cannot serve the database; `nil` when it can, as far as is known.
  private(set) var failure: String?
  /// The difference between the time of the service and this device's, in milliseconds.
  private(set) var timeOffset: Int64 = 0
  private(set) var interruptions: Set<Interruption> = [.waitingForFirstUse]

  private let tuning: DatabaseTuning
  private let needsTokens: Bool
  private var link: LinkMachine
  /// The state of the open link; `disconnected` while an ended connection is cleaned up.
  private var stage = Phase.disconnected
  /// The number of the connection; the end of one counts too.
  private var attempt = 0
  /// When the service has said hello, in milliseconds.
  private var openedAt: Int64 = 0
  private var wasGood = false
  private var lastSession: String?
  private var lastLoss: String?
  /// Whether the next attempt to connect was brought forward.
  private var isHurried = false
  private var forcesTokenRefresh = false
  /// The newest token.
  private var token: String?
  /// The token that was sent to the service on this connection.
  private var sentToken: String?
  /// Whether the token has changed while it was being fetched.
  private var hasNewerToken = false
  private var appCheckToken: String?

  /// No connection, and none wanted before the first use.
  ///
  /// - Parameter needsTokens: Whether there is something to ask for tokens.
  init(_ tuning: DatabaseTuning, needsTokens: Bool) {
    (self.tuning, self.needsTokens) = (tuning, needsTokens)
    link = LinkMachine(tuning.link)
    _ = link.networkLost()
    _ = link.open(now: 0)
  }

  var phase: Phase {
    switch link.phase {
    case .closed, .offline: .disconnected
    case .waiting: .waiting
    case .open: stage
    }
  }

  /// Whether the app is being deleted: nothing new begins.
  var isShutDown: Bool { interruptions.contains(.shutDown) }

  /// Why a call that waits for a connection ends.
  var offlineReason: String { failure ?? "Client is offline." }

  /// Whether a report is of the current connection.
  func isCurrent(_ attempt: Int) -> Bool { attempt == self.attempt }

  // MARK: Wanting a connection

  /// A reason for not connecting no longer holds.
  mutating func resumed(_ reason: Interruption, at now: Int64) -> [Action] {
    interruptions.remove(reason)
    guard interruptions.isEmpty, link.phase == .offline else { return [] }
    return actions(link.networkFound(now: now * 1_000), now)
  }

  /// There is a reason for not connecting.
  mutating func interrupted(_ reason: Interruption, at now: Int64) -> [Action] {
    interruptions.insert(reason)
    let end = end("The client has gone offline.", isWanted: true, now)
    _ = link.networkLost()
    return [.cancelTimer, .close] + end
  }

  /// The pause between two attempts is over.
  mutating func pauseEnded(at now: Int64) -> [Action] { actions(link.pauseEnded(now: now * 1_000), now) }

  /// A database that could not be opened is wanted: it is tried again soon.
  mutating func wanted() -> [Action] {
    guard failure != nil, phase == .waiting, !isHurried else { return [] }
    isHurried = true
    return [.wait(tuning.reopeningTime)]
  }

  // MARK: Opening

  private mutating func connect() -> [Action] {
    isHurried = false
    attempt += 1
    guard needsTokens else { return open() }
    stage = .gettingToken
    hasNewerToken = false
    defer { forcesTokenRefresh = false }
    return [.fetchTokens(attempt: attempt, forcesRefresh: forcesTokenRefresh)]
  }

  /// The tokens for a connection were fetched.
  mutating func gotTokens(_ token: String?, appCheck: String?, attempt: Int) -> [Action] {
    guard isCurrent(attempt), phase == .gettingToken else { return [] }
    // A sign-in or sign-out in the meantime decides, and not the token that was requested before it.
    if !hasNewerToken { self.token = token }
    appCheckToken = appCheck
    return open()
  }

  /// The tokens for a connection cannot be had.
  mutating func tokensFailed(attempt: Int, at now: Int64, random: () -> Double) -> [Action] {
    guard isCurrent(attempt), phase == .gettingToken else { return [] }
    return actions(link.ended(.unavailable, now: now * 1_000, random: random), now)
  }

  private mutating func open() -> [Action] {
    stage = .connecting
    return [.open(attempt: attempt, lastSession: lastSession)]
  }

  /// A connection did not open in time.
  mutating func openingTimedOut(attempt: Int, at now: Int64) -> [Action] {
    guard isCurrent(attempt), phase == .connecting else { return [] }
    return [.close] + end("The connection did not open in time.", now)
  }

  /// The service has said hello.
  mutating func opened(_ hello: DatabaseHello, at now: Int64) -> [Action] {
    var actions: [Action] = [.cancelTimer]
    if failure != nil { actions.append(.note(.recovered)) }
    (failure, lastLoss, sentToken) = (nil, nil, nil)
    (openedAt, lastSession, timeOffset) = (now, hello.session, hello.timestamp - now)
    if let appCheckToken { actions.append(.sendAppCheck(appCheckToken)) }
    stage = .authenticating
    return actions + [.showTimeOffset(timeOffset)] + authenticate()
  }

  // MARK: Tokens

  /// Sends the service the current user, until it knows the current state; then everything else follows.
  private mutating func authenticate() -> [Action] {
    guard token != sentToken else { return restore() }
    sentToken = token
    return [.authenticate(token, isFirst: true)] + (token == nil ? restore() : [])
  }

  private mutating func restore() -> [Action] {
    stage = .connected
    return [.restore]
  }

  /// The service has answered the token of the current user.
  mutating func authenticated(_ reply: DatabaseReply, isFirst: Bool, at now: Int64) -> [Action] {
    guard reply.status == .ok else { return tokenRefused(reply.status.rawValue, reply.message, at: now) }
    return isFirst ? authenticate() : []
  }

  /// The service does not accept the token of the current user, or no longer.
  mutating func tokenRefused(_ status: String, _ reason: String, at now: Int64) -> [Action] {
    token = nil
    // A token that could not be verified right now is as good as before.
    forcesTokenRefresh = status != DatabaseStatus.unavailable.rawValue
    return [.note(.tokenRefused(status: status, reason: reason)), .close] + end("The token was not accepted.", now)
  }

  /// A user has signed in or out, or a token was refreshed.
  mutating func tokenChanged(_ new: String?) -> [Action] {
    hasNewerToken = true
    guard new != token else { return [] }
    token = new
    guard phase == .connected else { return [] }
    sentToken = new
    return [.authenticate(new, isFirst: false)]
  }

  /// App Check has a new token.
  mutating func appCheckChanged(_ new: String) -> [Action] {
    appCheckToken = new
    return phase == .connected ? [.sendAppCheck(new)] : []
  }

  /// The service does not accept the App Check token, or no longer.
  mutating func appCheckRefused() { appCheckToken = nil }

  // MARK: Ending

  /// The service cannot serve the database; attempts to connect continue.
  mutating func refused(_ reason: String) -> [Action] {
    defer { failure = reason }
    return (failure == reason ? [] : [.note(.refused(reason))]) + [.refuse(reason)]
  }

  /// The connection has ended.
  mutating func ended(_ reason: String, at now: Int64) -> [Action] { end(reason, now) }

  private mutating func end(_ reason: String, isWanted: Bool = false, _ now: Int64) -> [Action] {
    var actions: [Action] = []
    // Each reason once: attempts to connect repeat it.
    if !isWanted, lastLoss != reason, failure == nil { actions.append(.note(.lost(reason))) }
    lastLoss = reason
    attempt += 1
    let wasOpen = phase == .connected || phase == .authenticating
    wasGood = wasOpen && now - openedAt > tuning.goodConnection.microseconds / 1_000
    stage = .disconnected
    return actions + [.cancelTimer, .cleanUp]
  }

  /// All parts of the connection have ended: the next one is tried, unless there is a reason against it.
  mutating func cleanedUp(at now: Int64, random: () -> Double) -> [Action] {
    guard link.phase == .open, stage == .disconnected else { return [] }
    // After a good connection the next attempt is at once.
    if wasGood { link.received(requestedPause: .zero) }
    return actions(link.ended(.unavailable, now: now * 1_000, random: random), now)
  }

  /// The actions for the decisions of the link, whose failures are never final.
  private mutating func actions(_ effects: [LinkMachine.Effect], _ now: Int64) -> [Action] {
    effects.flatMap { effect -> [Action] in
      switch effect {
      case .connect: connect()
      case .wait(let pause): wait(.milliseconds(pause.microseconds / 1_000), now)
      case .disconnect, .fail: []
      }
    }
  }

  private mutating func wait(_ pause: Duration, _ now: Int64) -> [Action] {
    pause == .zero ? pauseEnded(at: now) : [.wait(pause)]
  }
}

extension DatabaseTuning {
  /// The rules by which the connection is kept open.
  var link: LinkPolicy {
    LinkPolicy(
      retry: Retry(
        initial: .seconds(firstReconnectDelay), factor: reconnectFactor, cap: .seconds(longestReconnectDelay),
        jitter: .between(0.3, 1)),
      permanent: [], refreshesCredential: false)
  }
}
