// Test cases made of closures are the open-source XCTest's.
#if !canImport(ObjectiveC)
  import Testing
  import VestaConcurrency
  import VestaRules
  import VestaRulesTesting
  import XCTest

  /// Checks of rules in test cases of XCTest.
  @Suite struct XCTestTests {
    /// A test case that also remembers the texts of its failures.
    private final class RememberingCase: XCTestCase {
      static let texts = Locked<[String]>([])
      var body: () throws -> Void = {}

      /// Without the asynchronous `setUp`: XCTest waits for it in a loop that never sleeps, on one of the threads of
      /// tasks, until the tasks that other tests had queued before have run.
      override func invokeTest() {
        do {
          try body()
        } catch {
          XCTFail("\(error)")
        }
      }

      override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
      ) {
        RememberingCase.texts.withLock { $0.append(description) }
        super.recordFailure(withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
      }
    }

    /// The number of failures of a test case.
    private func failures(of name: String, _ body: @escaping (RulesTester) throws -> Void) -> Int? {
      let testCase = RememberingCase(name: name) { _ in }
      testCase.body = {
        var rules = try RulesTester(
          firestore: """
            rules_version = '2';
            service cloud.firestore { match /databases/{database}/documents {
              match /notes/{note} { allow read: if request.auth.uid == resource.data.owner; }
            } }
            """)
        rules.documents["notes/n1"] = ["owner": "ada"]
        try body(rules)
      }
      testCase.run()
      return testCase.testRun?.totalFailureCount
    }

    @Test func `a check that does not hold fails a test case with its trace, and one that holds does not`() {
      #expect(failures(of: "holds") { try $0.allows(get: "notes/n1", as: .user("ada")) } == 0)
      #expect(RememberingCase.texts.withLock { $0 }.isEmpty)
      #expect(failures(of: "does not hold") { try $0.allows(get: "notes/n1", as: .user("eve")) } == 1)
      let text = RememberingCase.texts.withLock { $0.first } ?? ""
      #expect(text.contains("expected allowed, but get is denied"), "\(text)")
      #expect(text.contains("resource.data.owner  →  'ada'"), "\(text)")
      // As an assertion among others, after which the test case continues.
      let asserted = failures(of: "asserts") { rules in
        XCTAssertThrowsError(try rules.denies(get: "notes/n1", as: .user("ada")))
        XCTAssertNoThrow(try rules.denies(get: "notes/n1", as: .user("ada")))
        XCTAssertNoThrow(try rules.denies(get: "notes/n1", as: .nobody))
      }
      #expect(asserted == 1)
    }
  }
#endif
