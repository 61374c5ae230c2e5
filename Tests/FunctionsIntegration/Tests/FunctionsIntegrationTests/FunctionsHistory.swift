import Dispatch
import Foundation
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctions
import VestaFunctionsBackend
import VestaFunctionsEndpoints
import VestaFunctionsRemote
import VestaSQLite
import VestaServiceInterop
import VestaTesting
import VestaTransportInteropFakes

@testable import VestaFunctionsService

/// Programs that change documents and call functions, which fail, block, hang, call others and are left, with restarts.
final class FunctionsHistory: Sendable {
  private static let documents = ["a", "b", "c"]

  let model = Locked(EventModel())
  private let seed: UInt64
  private let directory: TemporaryDirectory
  private let attempts: Int
  /// The functions of calls that run.
  let running = Locked(0)
  /// Whether functions of events succeed at once from now on.
  private let isWell = Locked(false)
  private let versions = Locked(0)
  /// How often functions of calls have been run, less the calls of them that were made.
  let surplus = Locked<[String: Int]>([:])

  struct Refused: Error {}

  init(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    self.seed = seed
    attempts = 1 + random.below(4)
    directory = try TemporaryDirectory("functions-oracle")
    var options = FunctionsServiceOptions()
    options.maximumConcurrentCalls = 1 + random.below(4)
    options.maximumConcurrentEvents = 1 + random.below(4)
    options.eventGatheringInterval = .milliseconds(random.below(6))
    options.tuning.delivery.page = 1 + random.below(6)
    options.tuning.delivery.window = options.tuning.delivery.page + random.below(6)
    options.tuning.delivery.lane = 1 + random.below(4)
    options.tuning.timing.batch = 1 + random.below(6)
    options.tuning.eventsBetweenYields = 1 + random.below(3)
    ChosenFunctions.options.withLock { [options] in $0["functions-\(seed)"] = options }
  }

  // MARK: Programs

  private func start() throws -> VestaApp {
    model.withLock { $0.run += 1 }
    let options = VestaOptions(
      projectID: "functions-\(seed)", backend: .embedded(directory: URL(filePath: directory.path)))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      name: "functions-\(seed)", options: options,
      libraries: [
        FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, FunctionsLibrary.self, SQLiteLibrary.self,
        ChosenFunctions.self,
      ])
    try register(app)
    if TestBackend.current == .wire { try reachOverTheWire(app) }
    return app
  }

  /// Puts a remote backend and the endpoints between the client of an app and its engine.
  private func reachOverTheWire(_ app: VestaApp) throws {
    let host = FakeEndpointHost(project: "functions-\(seed)")
    host.add((any FunctionsBackend).self, try app.container.require((any FunctionsBackend).self))
    let remote = FunctionsRemote(project: "functions-\(seed)", on: try host.service(of: FunctionsEndpoints()))
    app.container.override((any FunctionsBackend).self, with: remote as any FunctionsBackend)
  }

  /// Changes and calls; the last program waits until every change has had its success or is a dead letter.
  func round(_ number: Int, isLast: Bool) async throws {
    var random = SplitMix(seed: seed &* 100 &+ UInt64(number))
    let app = try start()
    let backend = try app.container.require((any FirestoreBackend).self)
    await withTaskGroup(of: Void.self) { group in
      for document in Self.documents {
        let seed = random.next()
        group.addTask { [self] in
          var random = SplitMix(seed: seed)
          for _ in 0..<(2 + random.below(5)) { await change(document, backend, &random) }
        }
      }
      for _ in 0..<3 {
        let seed = random.next()
        group.addTask { [self] in
          var random = SplitMix(seed: seed)
          for _ in 0..<(2 + random.below(4)) { await call(app, &random) }
        }
      }
    }
    if isLast { try await settle(app) }
    await app.delete()
    let left = running.withLock { $0 }
    if left != 0 { model.withLock { $0.broken("\(left) functions run after their app was deleted") } }
    let surplus = surplus.withLock { $0.filter { $0.value != 0 } }
    if !surplus.isEmpty { model.withLock { $0.broken("functions are run oftener than called: \(surplus)") } }
  }

  // MARK: Documents

  private func change(_ document: String, _ backend: any FirestoreBackend, _ random: inout SplitMix) async {
    for _ in 0..<random.below(100) { await Task.yield() }
    let database = "projects/functions-\(seed)/databases/(default)", name = "\(database)/documents/n/\(document)"
    let deletes = random.oneIn(4) && model.withLock { $0.version(of: document) != nil }
    let version = versions.withLock {
      $0 += 1; return $0
    }
    let write: Write =
      deletes ? .delete(name) : .update(Document(name: name, fields: ["version": .integer(Int64(version))]))
    do {
      // Known before it is committed, as its event may arrive before the answer; each lane waits for its commits.
      model.withLock { $0.changed(document, to: deletes ? nil : version) }
      let request = CommitRequest(database: database, writes: [write])
      _ = try await backend.commit(request, context: CallContext(caller: .owner))
    } catch {
      model.withLock { $0.broken("a change of \(document) was refused: \(error)") }
    }
  }

  /// How often the function of a change fails; events that fail as often as allowed become dead letters.
  private func failures(_ change: EventModel.Change) -> Int {
    var random = SplitMix(seed: seed &+ UInt64((change.after ?? 0) * 1_000 + (change.before ?? 0)))
    return random.oneIn(2) ? 0 : random.below(attempts + 1)
  }

  private func register(_ app: VestaApp) throws {
    let registry = try FunctionRegistry.registry(for: app)
    var options = EventOptions()
    options.retryDelay = .milliseconds(1)
    options.maximumAttempts = attempts
    options.concurrency = 1 + Int(seed % 3)
    try registry.onDocumentWritten("written", document: "n/{id}", options: options) { [self] event in
      let document = event.params["id"] ?? "?"
      let change = EventModel.Change(
        before: event.data.before?.get("version") as? Int, after: event.data.after?.get("version") as? Int)
      let isWell = isWell.withLock { $0 }
      let number = model.withLock { $0.begins(document, change, id: event.id, isResent: isWell) }
      let fails = !isWell && number <= failures(change)
      do {
        switch ((change.after ?? 7) + number) % 4 {
        case 0: block()
        case 1: for _ in 0..<(change.after ?? 7) % 50 { await Task.yield() }
        // It is cancelled when its program ends.
        case 2: try await Task.sleep(for: .milliseconds((change.after ?? 7) % 5))
        default: break
        }
        if fails { throw Refused() }
        model.withLock { $0.ends(document, change, isSuccess: true) }
      } catch {
        model.withLock { $0.ends(document, change, isSuccess: false) }
        throw error
      }
    }
    registerCalls(registry, app)
  }

  /// Waits until all is done, then looks at the dead letters, and sends them again.
  private func settle(_ app: VestaApp) async throws {
    let registry = try FunctionRegistry.registry(for: app)
    let deadline = ContinuousClock.now + .seconds(40)
    var letters: [DeadEvent] = []
    while ContinuousClock.now < deadline {
      letters = try await registry.deadLetters(of: "written")
      if model.withLock({ $0.open.count }) <= letters.count { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    let open = model.withLock { $0.open }
    if open.count != letters.count {
      model.withLock { $0.broken("without success: \(open); dead letters: \(letters)") }
    }
    // A change that is a dead letter has failed as often as may be; restarts may have cost it attempts.
    isWell.withLock { $0 = true }
    let count = try await registry.resend(letters, to: "written")
    if count != letters.count {
      model.withLock { $0.broken("\(count) of \(letters.count) dead letters were sent again") }
    }
    while ContinuousClock.now < deadline, model.withLock({ !$0.open.isEmpty }) {
      try await Task.sleep(for: .milliseconds(5))
    }
    let never = model.withLock { $0.open }
    if !never.isEmpty { model.withLock { $0.broken("never came again: \(never)") } }
  }
}

/// Blocks the thread, as programs do.
func block(milliseconds: Int = 2) { Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000) }

/// The options of the history whose project is configured.
private enum ChosenFunctions: Library {
  static let name = "functions-oracle"
  static let options = Locked<[String: FunctionsServiceOptions]>([:])

  static func components() -> [Component] {
    [
      Component(FunctionsServiceOptions.self, caching: .shared) { container in
        options.withLock { $0[container.options.projectID ?? ""] }
      }
    ]
  }
}
