import Foundation
import Testing
import VestaCore
import VestaFirestoreBackend
import VestaFunctionsService
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import EventCrashWorker

/// Processes that are killed at a certain step of a delivery, and what the next process makes of it.
@Suite(.serialized) struct DeliveryStepTests {
  struct Attempt: Hashable {
    let kind: String, round: Int, id: String
  }

  @Test(.timeLimit(.minutes(5)), arguments: DeliveryStep.allCases, [false, true])
  func `a process that is killed at this step loses no event and no dead letter`(
    step: DeliveryStep, isAfter: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let when = isAfter ? "after" : "before"
    let worker = try WorkerProcess("EventCrashWorker", directory.path, "step", step.rawValue, when)
    let lines = await worker.finish()
    #expect(lines.contains("dead \(step.rawValue) \(when)"), "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")

    let app = try Worker.app(in: directory.path, name: "steps")
    try Worker.registerSteps(app, ledger: directory.path(of: "ledger"))
    let backend = try app.container.require((any FirestoreBackend).self)
    for kind in Worker.kinds { try await Worker.set(backend, kind, round: 3) }
    let registry = try FunctionRegistry.registry(for: app)
    let acknowledged = lines.filter { $0.hasPrefix("wrote ") }.map { String($0.dropFirst(6)) }
    let wanted = acknowledged + Worker.kinds.map { "\($0) 3" }
    while try await !isOver(directory, registry, wanted) { try await Task.sleep(for: .milliseconds(5)) }
    try check(attempts(directory))
    let letters = try await registry.deadLetters(of: "steps")
    #expect(Set(letters.map(\.id)).count == letters.count, "an event is two dead letters")
    #expect(letters.allSatisfy { $0.subject == "n/bad" && $0.attempts == 3 && $0.damage == nil })
    await app.delete()
  }

  /// Whether the functions have done what is to be done about some changes, each "kind round".
  private func isOver(
    _ directory: TemporaryDirectory, _ registry: FunctionRegistry, _ wanted: [String]
  ) async throws -> Bool {
    let attempts = try attempts(directory)
    let letters = Set(try await registry.deadLetters(of: "steps").map(\.id))
    return wanted.allSatisfy { change in
      let own = attempts.filter { "\($0.kind) \($0.round)" == change }
      switch own.first?.kind {
      case "good": return true
      case "flaky": return own.count > 1
      case "bad": return letters.contains(own[0].id)
      default: return false
      }
    }
  }

  private func attempts(_ directory: TemporaryDirectory) throws -> [Attempt] {
    let text = String(decoding: try directory.bytes(of: "ledger"), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 3, let round = Int(parts[1]) else { return nil }
      return Attempt(kind: String(parts[0]), round: round, id: String(parts[2]))
    }
  }

  /// Each document's events arrived in the order of its changes: an event begins after the one before it has ended.
  private func check(_ attempts: [Attempt]) {
    for kind in Worker.kinds {
      let own = attempts.filter { $0.kind == kind }
      var begun: [String] = []
      for attempt in own where !begun.contains(attempt.id) { begun.append(attempt.id) }
      // Ids have the commit version in them, and versions grow.
      #expect(begun == begun.sorted { version($0) < version($1) }, "\(kind): \(own)")
      for (earlier, later) in zip(begun, begun.dropFirst()) {
        let before = own.prefix { $0.id != later }
        let needed = kind == "good" ? 1 : kind == "flaky" ? 2 : 3
        #expect(before.count { $0.id == earlier } >= needed, "\(kind): \(later) overtook \(earlier)")
      }
    }
  }

  private func version(_ id: String) -> Int64 {
    let parts = id.split(separator: "-")
    return parts.count > 2 ? Int64(parts[parts.count - 2], radix: 16) ?? 0 : 0
  }
}
