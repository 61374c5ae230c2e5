import Foundation
import Testing
import VestaRules
import VestaServiceInterop
import VestaTesting

@testable import VestaRulesGuards

struct AdministrationTests {
  private let open = "rules_version = '2'; service cloud.firestore { match /{a=**} { allow read: if true; } }"

  @Test func `rules of one product are replaced, and those of the others stay`() async throws {
    let rules: any RulesAdministration = try ProjectRules(RulesSources(database: .text(#"{"rules": {".read": true}}"#)))
    #expect(rules.rulesInForce(of: .firestore) == nil)
    _ = try await rules.replaceRules(with: open, of: .firestore)
    #expect(rules.rulesInForce(of: .firestore) == open)
    #expect(rules.rulesInForce(of: .database) == #"{"rules": {".read": true}}"#)
    #expect(rules.rulesInForce(of: .storage) == nil)
  }

  @Test func `rules that do not compile are refused with their places, and change nothing`() async throws {
    let rules = try ProjectRules(RulesSources(firestore: .text(open)))
    for (product, text) in [(RuledProduct.firestore, "service {"), (.storage, "service {"), (.database, "{")] {
      let refusal = await #expect(throws: RulesRefusal.self) {
        _ = try await rules.replaceRules(with: text, of: product)
      }
      #expect(refusal?.remarks.contains(where: \.isError) == true)
      #expect(refusal?.description.isEmpty == false)
    }
    #expect(rules.rulesInForce(of: .firestore) == open)
  }

  @Test func `the rules in force are those that were compiled, whatever their file has become`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      try Data(open.utf8).write(to: file)
      let rules = try ProjectRules(RulesSources(firestore: .file(file.path)))
      try Data("service {".utf8).write(to: file)
      #expect(rules.rulesInForce(of: .firestore) == open)
    }
  }

  @Test func `warnings are returned`() async throws {
    let rules = try ProjectRules()
    let source = """
      rules_version = '2';
      service cloud.firestore { match /a/{b} { allow read: if nothing.x; } }
      """
    let remarks = try await rules.replaceRules(with: source, of: .firestore)
    #expect(remarks.contains { !$0.isError && $0.place?.line == 2 })
  }
}
