import VestaConcurrency

/// Who waits for the deletion of whom: a deletion that would wait for itself is let go on.
///
/// The instances of an app may delete other apps while they are taken down, and those the first one.
struct DeletionWaits {
  private static let shared = Locked(DeletionWaits())

  /// The apps whose deletion the taking down of an app waits for, and how often.
  private var awaited: [ObjectIdentifier: [ObjectIdentifier: Int]] = [:]

  /// The apps of `waiting` begin to wait for `app`.
  mutating func add(_ app: ObjectIdentifier, by waiting: [ObjectIdentifier]) {
    for one in waiting { awaited[one, default: [:]][app, default: 0] += 1 }
  }

  /// The apps of `waiting` wait for `app` no longer.
  mutating func remove(_ app: ObjectIdentifier, by waiting: [ObjectIdentifier]) {
    for one in waiting {
      guard let count = awaited[one]?[app] else { continue }
      awaited[one]?[app] = count > 1 ? count - 1 : nil
      if awaited[one]?.isEmpty == true { awaited[one] = nil }
    }
  }

  /// Whether the deletion of `app` waits, directly or through others, for one of `targets`.
  func leads(from app: ObjectIdentifier, to targets: [ObjectIdentifier]) -> Bool {
    var (seen, next): (Set<ObjectIdentifier>, [ObjectIdentifier]) = ([app], [app])
    while let one = next.popLast() {
      if targets.contains(one) { return true }
      for other in awaited[one, default: [:]].keys where seen.insert(other).inserted { next.append(other) }
    }
    return false
  }

  // MARK: The deletions of this process

  /// The apps of `tasks`, which the current task is taking down, begin to wait for the deletion of `app`.
  static func begin(_ app: VestaApp, within tasks: [ObjectIdentifier]) {
    shared.withLock { $0.add(ObjectIdentifier(app), by: tasks) }
  }

  static func end(_ app: VestaApp, within tasks: [ObjectIdentifier]) {
    shared.withLock { $0.remove(ObjectIdentifier(app), by: tasks) }
  }

  /// Waits for the deletion of `app`, unless that waits for one of `tasks`.
  static func wait(for app: VestaApp, within tasks: [ObjectIdentifier]) async {
    let waits = shared.withLock { state in
      guard !state.leads(from: ObjectIdentifier(app), to: tasks) else { return false }
      state.add(ObjectIdentifier(app), by: tasks)
      return true
    }
    guard waits else { return }
    let warning = Task { await warn(app) }
    await app.deleted.wait()
    warning.cancel()
    end(app, within: tasks)
  }

  /// The time after which a deletion counts as one that may wait for itself.
  @TaskLocal static var patience = Duration.seconds(10)

  private static func warn(_ app: VestaApp) async {
    do { try await Task.sleep(for: patience) } catch { return }
    log.warning(
      "I-COR000013",
      """
      The app "\(app.name)" has been being deleted for \(patience). An instance whose appWillBeDeleted waits for a \
      detached task that deletes this app waits for itself: delete it without waiting.
      """)
    shared.withLock { $0.warnings += 1 }
  }

  private var warnings = 0

  /// Whether a deletion has been found to take long, for tests.
  static var hasWarned: Bool { shared.withLock { $0.warnings > 0 } }
}

private let log = Logger(service: "VestaCore")
