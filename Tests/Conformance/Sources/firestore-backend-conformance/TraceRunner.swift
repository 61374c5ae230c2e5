import FirestoreInterop
import FirestoreReference

/// Runs recorded queries and compares what comes back.
struct TraceRunner {
  private let suite: String
  private var passed = 0
  private(set) var failed = 0
  private var skipped: [String: Int] = [:]
  private let context = FirestoreCallContext(authorization: .owner)

  /// A runner that has run nothing.
  init(suite: String) { self.suite = suite }

  /// Runs every query of a file, and prints what fails and the totals.
  mutating func run(_ file: TraceFile) async throws {
    for action in file.actions where action.kind == "run_query" {
      if let reason = try ObsoleteRules.reason(for: action) {
        skipped[reason, default: 0] += 1
        continue
      }
      let documents = action.database.flatMap { file.databases[$0] } ?? []
      if let difference = try await difference(of: action, on: documents) {
        failed += 1
        print("\(suite): FAILED \(action.name): \(difference)")
      } else {
        passed += 1
      }
    }
    for (reason, count) in skipped.sorted(by: { $0.key < $1.key }) { print("\(suite): skipped \(count): \(reason)") }
    print("\(suite): \(passed) passed, \(failed) failed, \(skipped.values.reduce(0, +)) skipped")
  }

  /// What is different from the recording; `nil` when nothing is.
  private func difference(of action: TraceAction, on documents: [Document]) async throws -> String? {
    let backend = ReferenceBackend()
    let request = try WireReader.query(action.request)
    var received: [Document] = []
    var code = 0
    var message = ""
    do {
      try backend.load(documents)
      try await backend.runQuery(request, context: context) { response in
        if let document = response.document { received.append(document) }
      }
    } catch let error as FirestoreError {
      code = error.code.rawValue
      message = error.message
    }
    if code != action.code {
      return "expected status \(action.code) \(action.message.prefix(200)), got \(code) \(message.prefix(200))"
    }
    return try compare(received, with: action)
  }

  private func compare(_ received: [Document], with action: TraceAction) throws -> String? {
    guard action.code == 0 else { return nil }
    let expected = try action.responses.filter { $0["document"].isPresent }.map { try WireReader.document($0["document"]) }
    if received.map(\.name) != expected.map(\.name) {
      return "expected \(names(expected)), got \(names(received))"
    }
    for (left, right) in zip(received, expected) where left.fields != right.fields {
      return "the fields of \(left.name) differ"
    }
    return nil
  }

  private func names(_ documents: [Document]) -> String {
    let names = documents.prefix(12).map { $0.name.split(separator: "/").dropFirst(5).joined(separator: "/") }
    return "\(documents.count) \(names)"
  }
}
