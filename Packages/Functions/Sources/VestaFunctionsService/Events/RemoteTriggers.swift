import VestaBytes
import VestaConcurrency
import VestaCore
import VestaEventsInterop
import VestaFiles
import VestaServiceInterop

/// The functions of other programs that a project has registered: event functions that call an `EventTriggerDelivery`.
///
/// The registrations are in a file of the project, so that a process that starts records and delivers events before the
/// host of the functions registers them again.
final class RemoteTriggers: EventTriggers {
  private let registry: FunctionRegistry
  private let delivery: any EventTriggerDelivery
  private let project: String
  private let folder: String
  private let isReady: @Sendable () async throws -> Void
  private let options: EventOptions
  private let state = Locked<[String: EventTrigger]>([:])
  private let limit: Int
  /// One change of the file at a time.
  private let turns = FairQueue(limit: 1)

  init(
    _ registry: FunctionRegistry, _ delivery: any EventTriggerDelivery, project: String, folder: String,
    tuning: TriggerTuning, isReady: @escaping @Sendable () async throws -> Void
  ) {
    (self.registry, self.delivery, self.project, self.folder) = (registry, delivery, project, folder)
    (self.isReady, limit) = (isReady, tuning.maximumTriggers)
    var options = EventOptions()
    options.timeout = tuning.timeout
    options.maximumAttempts = tuning.maximumAttempts
    options.retryDelay = tuning.retryDelay
    self.options = options
  }

  static let fileName = "triggers.json"

  private var path: String { "\(folder)/\(Self.fileName)" }

  var triggers: [EventTrigger] { state.withLock { $0.values.sorted { $0.key < $1.key } } }

  func set(_ trigger: EventTrigger) async throws(EventTriggerError) {
    guard (1...Self.longestKey).contains(trigger.key.utf8.count) else {
      throw EventTriggerError("The name of a function has 1 to \(Self.longestKey) bytes.")
    }
    try await change { triggers throws(EventTriggerError) in
      guard triggers[trigger.key] != nil || triggers.count < self.limit else {
        throw EventTriggerError("The project has \(self.limit) functions with events, and takes no more.")
      }
      // Events that the engines do not have are refused before anything is kept.
      try self.register(trigger)
      // The program runs.
      self.registry.events.endPauses { $0.hasPrefix(EventTrigger.functionPrefix) }
      triggers[trigger.key] = trigger
    } undo: { before in
      if let before = before[trigger.key] { try? self.register(before) } else { self.unregister(trigger.key) }
    }
  }

  func remove(_ key: String) async throws(EventTriggerError) -> Bool {
    guard state.withLock({ $0[key] }) != nil else { return false }
    try await change { triggers in
      triggers[key] = nil
    } undo: { _ in
    }
    unregister(key)
    return true
  }

  func resume() {
    for trigger in delivery.standing { attempt(trigger) }
    guard delivery.keepsTriggers else { return }
    let kept: [EventTrigger]
    do {
      guard let bytes = try DurableFile.read(path) else { return }
      kept = try (try JSONObject(json: bytes)["triggers"]?.array ?? []).map { try EventTrigger(json: $0.object ?? [:]) }
    } catch {
      log.error("I-FUS000011", "The triggers in \(path) cannot be read, and their functions get no events: \(error)")
      return
    }
    for trigger in kept where attempt(trigger) { state.withLock { $0[trigger.key] = trigger } }
  }

  /// The longest name of a function, in bytes: it is a part of keys of the store.
  private static let longestKey = 500

  @discardableResult
  private func attempt(_ trigger: EventTrigger) -> Bool {
    do {
      try register(trigger)
      return true
    } catch {
      log.error("I-FUS000012", "The function \(trigger.key) gets no events: \(error)")
      return false
    }
  }

  private func register(_ trigger: EventTrigger) throws(EventTriggerError) {
    do throws(EventFunctionError) {
      try registry.register(
        EventFunction(subscription: trigger.subscription, options: options) { [delivery, project] event in
          guard trigger.wants(event) else { return }
          do {
            try await delivery.deliver(event, to: trigger, of: project)
          } catch let status as ServiceStatus where status.code == .internal {
            // As at Firebase without a policy of retries: what the function has done before it failed is not done
            // again, and later events of its document do not wait.
            log.warning(
              "I-FUS000013",
              "The function \(trigger.key) has failed on \(event.id), and does not get it again: \(status.message)")
          }
        })
    } catch {
      throw EventTriggerError(error.description)
    }
  }

  private func unregister(_ key: String) { registry.removeEventFunction(EventTrigger.functionPrefix + key) }

  /// Makes a change, and keeps it.
  private func change(
    _ body: (inout [String: EventTrigger]) throws(EventTriggerError) -> Void,
    undo: ([String: EventTrigger]) -> Void
  ) async throws(EventTriggerError) {
    do { try await turns.enter() } catch { throw EventTriggerError("The registration was cancelled.") }
    defer { turns.leave() }
    let before = state.withLock { $0 }
    var after = before
    try body(&after)
    guard after != before else { return }
    do {
      try await keep(after)
    } catch {
      undo(before)
      throw EventTriggerError("The registration cannot be kept: \(error)")
    }
    let kept = after
    state.withLock { $0 = kept }
  }

  private func keep(_ triggers: [String: EventTrigger]) async throws {
    guard delivery.keepsTriggers else { return }
    try await isReady()
    try DurableFile.makeDirectory(folder, isPrivate: false)
    let list = triggers.values.sorted { $0.key < $1.key }.map { JSONValue.object($0.json) }
    try DurableFile.replace(path, with: (["triggers": .array(list)] as JSONObject).json())
  }
}

extension EventTrigger {
  /// The beginning of the names of the event functions of triggers.
  fileprivate static let functionPrefix = "trigger/"
}

private let log = Logger(service: "VestaFunctionsService")
