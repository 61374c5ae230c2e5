import VestaConcurrency

/// Who waits for the deletion of whom: a deletion that would wait for itself continues.
///
/// The instances of an app may delete other apps while they are taken down, and those the first one.
enum DeletionWaits {
  private static let shared = Locked(WaitGraph<ObjectIdentifier>())
  private static let warnings = Locked(0)

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
      guard state.path(from: ObjectIdentifier(app), to: tasks) == nil else { return false }
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
  private static let patience = Duration.seconds(10)

  /// A pause of the warning, which a test may put on a clock that it advances.
  @TaskLocal static var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  private static func warn(_ app: VestaApp) async {
    do { try await sleep(patience) } catch { return }
    log.warning(
      "I-COR000013",
      """
      The app "\(app.name)" has been being deleted for \(patience). An instance whose appWillBeDeleted waits for a \
      detached task that deletes this app waits for itself: delete it without waiting.
      """)
    warnings.withLock { $0 += 1 }
  }

  /// Whether a deletion has been found to take long, for tests.
  static var hasWarned: Bool { warnings.withLock { $0 > 0 } }
}

private let log = Logger(service: "VestaCore")
