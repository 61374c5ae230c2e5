import Testing
import VestaTesting

/// One implementation of a seam: a line in the table of that seam's file.
struct Implementation<Subject>: Sendable, CustomTestStringConvertible {
  let name: String
  let makeSubject: @Sendable () async throws -> Subject

  init(_ name: String, makeSubject: @escaping @Sendable () async throws -> Subject) {
    self.name = name
    self.makeSubject = makeSubject
  }

  var testDescription: String { name }

  /// Holds the implementation to every promise and reports each broken one as an issue.
  func keeps(_ contracts: [Contract<Subject>]) async {
    #expect(!contracts.isEmpty)
    for outcome in await contracts.run(against: makeSubject) {
      #expect(outcome.isKept, "\(name): \(outcome)")
    }
  }
}
