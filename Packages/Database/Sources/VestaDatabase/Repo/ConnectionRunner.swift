import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaServiceInterop

/// Performs what ``ConnectionMachine`` decides about timers, tokens and the connection.
///
/// It is a value of its repo, and confined to the repo's queue.
struct ConnectionRunner {
  var machine: ConnectionMachine

  private let environment: Repo.Environment
  private var connection: (any DatabaseConnection)?
  private var timer: ListenerRegistration?
  private var tokenListeners: [ListenerRegistration] = []

  init(_ environment: Repo.Environment) {
    self.environment = environment
    let needsTokens = environment.auth != nil || environment.appCheck != nil
    machine = ConnectionMachine(environment.tuning, needsTokens: needsTokens)
  }

  /// Sends a request on the connection, if there is one.
  func send(_ request: DatabaseRequest, number: Int) { connection?.send(request, id: number) }

  /// All parts of an ended connection have ended.
  mutating func cleanedUp(at now: Int64) -> [ConnectionMachine.Action] {
    machine.cleanedUp(at: now, random: environment.random)
  }

  /// Performs an action.
  ///
  /// - Returns: False for an action that is the repo's.
  mutating func perform(_ action: ConnectionMachine.Action, for repo: Repo) -> Bool {
    switch action {
    case .wait(let pause):
      start(after: pause, for: repo) { repo in repo.perform(repo.link.machine.pauseEnded(at: repo.now)) }
    case .cancelTimer: timer.take()?.cancel()
    case .fetchTokens(let attempt, let forcesRefresh): fetchTokens(attempt, forcesRefresh, for: repo)
    case .open(let attempt, let lastSession): open(attempt, lastSession, for: repo)
    case .close: connection?.close()
    case .note(let note): note.log()
    case .cleanUp:
      connection = nil
      return false
    case .authenticate, .sendAppCheck, .showTimeOffset, .restore, .refuse: return false
    }
    return true
  }

  private mutating func start(
    after pause: Duration, for repo: Repo, _ body: @escaping @Sendable (isolated Repo) -> Void
  ) {
    timer?.cancel()
    timer = environment.clock.schedule(after: pause) { [weak repo] in repo?.enqueue(body) }
  }

  private mutating func open(_ attempt: Int, _ lastSession: String?, for repo: Repo) {
    let request = DatabaseConnectRequest(
      namespace: repo.url.namespace, origin: repo.url.root, lastSession: lastSession, userAgent: environment.userAgent)
    connection = environment.backend.connect(request) { [weak repo] message in
      repo?.enqueue { repo in
        guard repo.link.machine.isCurrent(attempt) else { return }
        repo.receive(message)
        repo.flush()
      }
    }
    start(after: environment.tuning.openingTime, for: repo) { repo in
      repo.perform(repo.link.machine.openingTimedOut(attempt: attempt, at: repo.now))
    }
  }

  // MARK: Tokens

  private func fetchTokens(_ attempt: Int, _ forcesRefresh: Bool, for repo: Repo) {
    let (auth, appCheck) = (environment.auth, environment.appCheck)
    Task {
      do {
        async let proof = appCheck?.getToken(forcingRefresh: forcesRefresh)
        let token = try await auth?.getToken(forcingRefresh: forcesRefresh)
        let appCheckToken = await proof?.token
        repo.enqueue { repo in
          repo.perform(repo.link.machine.gotTokens(token, appCheck: appCheckToken, attempt: attempt))
        }
      } catch {
        log.warning("I-RDB000001", "The token cannot be had, the connection is tried again: \(error)")
        repo.enqueue { repo in repo.perform(repo.link.tokensFailed(attempt, at: repo.now)) }
      }
    }
  }

  fileprivate mutating func tokensFailed(_ attempt: Int, at now: Int64) -> [ConnectionMachine.Action] {
    machine.tokensFailed(attempt: attempt, at: now, random: environment.random)
  }

  /// Follows sign-ins and sign-outs, and the tokens of App Check.
  mutating func listenForTokens(for repo: Repo) {
    let auth = environment.auth?.addTokenListener { [weak repo] change in
      repo?.enqueue { repo in repo.perform(repo.link.machine.tokenChanged(change.token)) }
    }
    let appCheck = environment.appCheck?.addTokenListener { [weak repo] change in
      repo?.enqueue { repo in repo.perform(repo.link.machine.appCheckChanged(change.token)) }
    }
    tokenListeners = [auth, appCheck].compactMap { $0 }
  }

  mutating func stopListening() {
    for listener in tokenListeners { listener.cancel() }
    tokenListeners = []
  }
}

extension ConnectionMachine.Note {
  fileprivate func log() {
    switch self {
    case .recovered: VestaDatabase.log.notice("I-RDB000020", "The database can be used again.")
    case .lost(let reason): VestaDatabase.log.notice("I-RDB000021", "There is no connection: \(reason)")
    case .refused(let reason): VestaDatabase.log.error("I-RDB000019", reason)
    case .tokenRefused(let status, let reason):
      VestaDatabase.log.warning("I-RDB000004", "The service does not accept the token: \(status) \(reason)")
    }
  }
}

private let log = Logger(service: "VestaDatabase")
