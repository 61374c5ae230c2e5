import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaMemoryStore
import VestaSQLite
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsService

/// Programs that write documents and follow the changes by several functions, which wait for one another's events,
/// block, fail, write, and are registered and removed meanwhile.
final class DispatchHistory: Sendable {
  typealias Change = DispatchModel.Change
  typealias Delivery = DispatchModel.Delivery

  struct Refused: Error {}

  /// An app, with a number that no other one has.
  struct Program: Sendable {
    let number: Int
    let app: VestaApp
    let backend: any FirestoreBackend
    let registry: FunctionRegistry
  }

  let plan: DispatchPlan
  let model = Locked(DispatchModel())
  private let directory: TemporaryDirectory
  private let numbers = Locked(0)
  /// No function waits, fails or writes from now on.
  private let isEcho = Locked(false)
  var project: String { "dispatch-\(plan.seed)" }
  var database: String { "projects/\(project)/databases/(default)" }

  init(_ plan: DispatchPlan) throws {
    self.plan = plan
    directory = try TemporaryDirectory("dispatch-oracle")
  }

  func next() -> Int {
    numbers.withLock { number in
      number += 1
      return number
    }
  }

  // MARK: Programs

  func start() throws -> Program {
    let number = next()
    ChosenDispatch.options.withLock { $0[project] = plan.options(number) }
    let options = VestaOptions(
      projectID: project, backend: .embedded(directory: URL(filePath: directory.path)))
    let store: any Library.Type = plan.isInMemory ? MemoryStoreLibrary.self : SQLiteLibrary.self
    let app = try VestaApp.configure(
      name: "\(project)-\(number)", options: options,
      libraries: [FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, store, ChosenDispatch.self])
    let program = Program(
      number: number, app: app, backend: try app.container.require((any FirestoreBackend).self),
      registry: try FunctionRegistry.registry(for: app))
    var random = SplitMix(seed: plan.seed &+ UInt64(number))
    for function in DispatchPlan.functions { try register(function, program, &random) }
    return program
  }

  func end(_ program: Program) async {
    model.withLock { $0.programWillEnd(program.number) }
    await program.app.delete()
    model.withLock { $0.programEnds(program.number) }
  }

  // MARK: Functions

  func register(_ function: DispatchPlan.Function, _ program: Program, _ random: inout SplitMix) throws {
    var options = plan.options(function, &random)
    if isEcho.withLock({ $0 }) { options.timeout = nil }
    let registration = model.withLock { model in
      model.willChange(function.name)
      return model.newRegistration(
        of: function.name, program: program.number, concurrency: options.concurrency,
        maximumAttempts: options.maximumAttempts, isHasty: function.isHasty)
    }
    try program.registry.onDocumentWritten(function.name, document: function.pattern, options: options) {
      [self] event in
      let before = event.data.before?.get("number") as? Int, after = event.data.after?.get("number") as? Int
      let change = Change(path: event.subject, number: after ?? -(before ?? 0))
      let delivery = Delivery(function: function.name, change: change)
      let attempt = model.withLock {
        $0.begins(
          delivery, id: event.id, in: registration, program: program.number, isCancelled: Task.isCancelled)
      }
      do {
        try await run(function, delivery, attempt, program)
        model.withLock { $0.ends(delivery, in: registration, isSuccess: true) }
      } catch {
        model.withLock { $0.ends(delivery, in: registration, isSuccess: false) }
        throw error
      }
    }
    model.withLock { $0.hasChanged(function.name, to: registration) }
  }

  func remove(_ function: DispatchPlan.Function, _ program: Program) {
    model.withLock { $0.willChange(function.name) }
    program.registry.removeEventFunction(function.name)
    model.withLock { $0.hasChanged(function.name, to: nil) }
  }

  private func run(
    _ function: DispatchPlan.Function, _ delivery: Delivery, _ attempt: Int, _ program: Program
  ) async throws {
    guard !isEcho.withLock({ $0 }) else { return }
    let (behavior, fails) = plan.behavior(function, delivery.change, attempt: attempt)
    switch behavior {
    case .returns: break
    case .yields(let count): for _ in 0..<count { await Task.yield() }
    case .sleeps(let time): try await Task.sleep(for: .milliseconds(time))
    case .blocks(let time): block(milliseconds: time)
    case .hangs: try await Task.sleep(for: .seconds(3_600))
    case .waits:
      guard let target = target(function, delivery) else { break }
      while !model.withLock({ $0.hasBegun(target) }) { try await Task.sleep(for: .milliseconds(1)) }
    case .blocksUntil:
      guard let target = target(function, delivery) else { break }
      while !model.withLock({ $0.hasBegun(target) || $0.overPrograms.contains(program.number) }) {
        block()
      }
    case .writes: await commit([.init(path: "w/\(next())", number: next())], program)
    }
    if fails { throw Refused() }
  }

  /// An event of another function that has not been delivered yet.
  private func target(_ function: DispatchPlan.Function, _ delivery: Delivery) -> Delivery? {
    let lower = Set(DispatchPlan.functions.filter { $0.isSteady && $0.rank < function.rank }.map(\.name))
    return model.withLock { model in
      model.open.filter { lower.contains($0.function) && !model.hasBegun($0) }
        .min { ($0.change.number, $0.function) < ($1.change.number, $1.function) }
    }
  }

  // MARK: Writing

  /// Commits changes of documents that no other caller changes.
  ///
  /// - Returns: Whether that has succeeded.
  @discardableResult
  func commit(_ changes: [Change], _ program: Program) async -> Bool {
    let writes = changes.map { change -> Write in
      let name = "\(database)/documents/\(change.path)"
      return change.number < 0
        ? .delete(name) : .update(Document(name: name, fields: ["number": .integer(Int64(change.number))]))
    }
    let before = model.withLock { model in
      for change in changes { model.committing(change) }
      return model.snapshot()
    }
    do {
      _ = try await program.backend.commit(
        CommitRequest(database: database, writes: writes), context: CallContext(caller: .owner))
    } catch { return false }
    model.withLock { model in
      for change in changes {
        for function in DispatchPlan.functions where function.wants(change.path) {
          model.committed(change, before, for: function.name)
        }
      }
    }
    return true
  }

  // MARK: The end

  /// Waits until each promised event has had its success or is a dead letter, and nothing is left to do.
  func settle(_ programs: [Program]) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let isIdle = programs.allSatisfy(\.registry.events.isIdle)
      if isIdle, try await unsettled(programs[0]).isEmpty { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    let left = try await unsettled(programs[0]).prefix(10)
    let isIdle = programs.map(\.registry.events.isIdle)
    model.withLock { model in
      let text = left.map { "\($0.function) \($0.change) after \(model.attemptCount($0)) attempts" }
      model.broken("never done: \(text), idle: \(isIdle)")
    }
  }

  /// The promised events that have neither succeeded nor failed as often as allowed.
  private func unsettled(_ program: Program) async throws -> [Delivery] {
    var dead: Set<Delivery> = []
    for function in DispatchPlan.functions {
      for letter in try await program.registry.deadLetters(of: function.name, limit: 10_000) {
        let change = model.withLock { $0.change(of: letter.id) }
        guard let change, letter.attempts >= plan.attempts else {
          model.withLock { $0.broken("\(function.name): dead letter \(letter.id) after \(letter.attempts) attempts") }
          continue
        }
        dead.insert(Delivery(function: function.name, change: change))
      }
    }
    return model.withLock { [dead] in $0.open.filter { !dead.contains($0) } }
  }

  /// A program that delivers nothing but new events.
  func echo() async throws {
    isEcho.withLock { $0 = true }
    let before = model.withLock { $0.attemptTotal }
    let program = try start()
    let changes = ["n/echo", "n/echo/m/echo"].map { Change(path: $0, number: next()) }
    await commit(changes, program)
    try await settle([program])
    await end(program)
    let more = model.withLock { $0.attemptTotal } - before
    // Two for each of the patterns of all documents, one for each of the others.
    if more != 8 { model.withLock { $0.broken("\(more) instead of 8 deliveries by a program that had nothing to do") } }
  }
}
