public import Foundation
import VestaConcurrency
public import VestaCore
import VestaMessagingBackend
import VestaServiceInterop

/// The messages of an app: its registration, its topics, and what arrives.
///
/// ```swift
/// let messaging = Messaging.messaging()
/// let token = try await messaging.token()
/// try await messaging.subscribe(toTopic: "news")
/// for await message in messaging.foregroundMessages { print(message.data) }
/// ```
///
/// - The app is registered when a token is asked for, or at once while ``isAutoInitEnabled``. Registration and pending
///   changes of topics are kept in the app's data directory.
/// - While there is a loop over ``foregroundMessages`` and a token, the app is connected to the service. A message is
///   acknowledged when the loop asks for the next one; until then it is delivered again after a restart, with the
///   same id.
/// - All members may be used from any thread. Completion handlers and the delegate are called on the callback queue of
///   the app's options (the main queue unless it was set).
///
/// To read on: `Registration/Messaging+Token.swift`, `Topics/TopicQueue.swift`, `Delivery/DeliveryBook.swift`.
public final class Messaging: NSObject, Sendable {
  /// The app; `nil` after its deletion.
  public weak let app: VestaApp?

  let backend: any MessagingBackend
  let clock: ServiceClock
  let tuning: MessagingTuning
  let file: RegistrationFile
  let topicFile: TopicFile
  let senderID: String
  let appID: String
  let installationID: @Sendable () -> String
  let callbackQueue: DispatchQueue
  let state: Locked<State>
  /// The default token, and its listeners.
  let tokens: StateSource<String?, String?>
  let flight = SingleFlight<String, String>()
  /// Registrations and their deletion, one at a time, so that a deletion also ends a registration under way.
  let operations = FairQueue(limit: 1)
  let delivery: DeliveryRunner
  private let dataCollection: @Sendable () -> Bool
  private let networkChanges = Locked<ListenerRegistration?>(nil)

  struct State: Sendable {
    var stored: StoredRegistration
    /// The changes of topics that the service has not confirmed, in order.
    var topics: TopicQueue
    /// Their events that are not in their file yet.
    var topicEvents: [TopicEvent] = []
    var delegate = DelegateReference()
    /// The time at which the service last refused the token, in microseconds since 1970.
    var lastRefusal: Int64?
    /// Whether the app is to be registered without a caller that waits for it.
    var wantsRegistration = false
    /// The number of registrations without a caller that have failed in a row.
    var failedRegistrations = 0
    /// Whether a timer is set for the next one.
    var hasRegistrationTimer = false
    var topicWaiters: [TopicWaiter] = []
    /// The number of batches of changes of topics that the service has answered in this run.
    var endedBatches = 0
    var isWorkingOnTopics = false
    /// Whether a timer is set for the changes of topics that the service could not be asked for.
    var hasTopicTimer = false
    var isOver = false
  }

  /// A caller that waits for a change of a topic.
  struct TopicWaiter: Sendable {
    /// The number of the batch, counted from the start of the run.
    var batch: Int
    var topic: String
    var turn: Turn<Void>
  }

  init(
    app: VestaApp, backend: any MessagingBackend, network: (any NetworkMonitor)? = nil,
    clock: ServiceClock = .system, tuning: MessagingTuning = MessagingTuning()
  ) {
    self.app = app
    self.backend = backend
    self.clock = clock
    self.tuning = tuning
    file = RegistrationFile(directory: app.dataDirectory)
    senderID = app.options.gcmSenderID
    appID = app.options.googleAppID
    callbackQueue = app.options.callbackQueue ?? .main
    installationID = { [weak app] in app?.installationID ?? "" }
    dataCollection = { [weak app] in app?.isDataCollectionDefaultEnabled ?? false }
    topicFile = TopicFile(directory: app.dataDirectory, slack: tuning.answeredTopicLines)
    let stored = file.load()
    state = Locked(State(stored: stored, topics: topicFile.load()))
    tokens = StateSource(stored.token, greeting: { $0 })
    delivery = DeliveryRunner(backend: backend, clock: clock, tuning: tuning)
    super.init()
    delivery.setToken(stored.token)
    delivery.observe { [weak self] token in
      self?.tokenWasRefused(token)
    } dropped: { [weak self] count in
      self?.notifyDropped(count)
    }
    let changes = network?.addChangeListener { [weak self] in
      self?.delivery.networkChanged()
      self?.registerAgain()
      self?.workOnTopics()
    }
    networkChanges.withLock { $0 = changes }
    begin()
  }

  // MARK: Reaching it

  /// The messages of the default app.
  ///
  /// Stops the process when no default app is configured, or when it was configured without `MessagingLibrary`. Use
  /// ``instance(for:)`` where that can happen.
  public class func messaging() -> Messaging {
    VestaApp.instanceOrStop(of: Messaging.self, providedBy: library, call: "Messaging.messaging()")
  }

  /// The messages of an app, or why it has none.
  ///
  /// - Parameter app: The app; `nil` for the default app.
  /// - Returns: Always the same object for the same app.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public class func instance(for app: VestaApp? = nil) throws(VestaError) -> Messaging {
    try VestaApp.instance(of: Messaging.self, for: app, providedBy: library)
  }

  // MARK: Settings

  /// The delegate, which is called when the registration changes.
  public weak var delegate: (any MessagingDelegate)? {
    get { state.withLock { $0.delegate.object } }
    set {
      state.withLock { $0.delegate.object = newValue }
      guard newValue != nil, let token = fcmTokenIfKnown else { return }
      notifyDelegate(token)
    }
  }

  /// Whether the app is registered without being asked to; the value that was set, or the app's default for data
  /// collection.
  ///
  /// Setting it to `true` registers the app if it is not. The value outlives the process.
  public var isAutoInitEnabled: Bool {
    get { state.withLock { $0.stored.isAutoInitEnabled } ?? dataCollection() }
    set {
      change { $0.isAutoInitEnabled = newValue }
      if newValue { registerInBackground() }
    }
  }

  /// Whether registrations go by the id of the installation alone, without a token; that is not supported: `false`.
  public var isInstallationIdEnabled: Bool { false }

  // MARK: Messages

  /// Returns whether a message that has arrived is new.
  ///
  /// - Parameter message: The message as the system has handed it to the app.
  /// - Returns: `unknown` for an empty message, `new` for any other one.
  @discardableResult
  public func appDidReceiveMessage(_ message: [AnyHashable: Any]) -> MessagingMessageInfo {
    MessagingMessageInfo(message.isEmpty ? .unknown : .new)
  }

  /// The messages that arrive while the program runs, in order.
  ///
  /// A message is acknowledged when the loop asks for the next one; messages not taken when a loop is left,
  /// when its task is cancelled or when the process ends is delivered again. The loop ends with the app.
  public var foregroundMessages: ForegroundMessages { ForegroundMessages(delivery) }

  // MARK: State

  /// Changes what is kept, and saves it.
  func change(_ body: (inout StoredRegistration) -> Void) {
    state.withLock { body(&$0.stored) }
    file.save { state.withLock { $0.stored } }
  }

  func checkAppIsThere() throws {
    guard state.withLock({ $0.isOver }) else { return }
    throw MessagingError.appDeleted
  }

  /// Continues where the last run was: the token, and the changes of topics that wait.
  private func begin() {
    takeOverTopics()
    if fcmTokenIfKnown == nil {
      if isAutoInitEnabled { registerInBackground() }
    } else {
      if isTokenStale { registerInBackground() }
      workOnTopics()
    }
  }

  /// Ends the connection and the streams.
  func end() {
    let waiters = state.withLock { state in
      state.isOver = true
      defer { state.topicWaiters = [] }
      return state.topicWaiters
    }
    for waiter in waiters {
      waiter.turn.begin()?.resume(throwing: MessagingError.appDeleted)
    }
    networkChanges.withLock { $0.take() }?.cancel()
    delivery.end()
    tokens.finish()
  }
}

private let library: StaticString = "MessagingLibrary of VestaMessaging (Packages/Messaging)"
