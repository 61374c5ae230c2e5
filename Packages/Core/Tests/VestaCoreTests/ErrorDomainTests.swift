import Foundation
import Testing
import VestaCore

@Suite struct ErrorDomainTests {
  private struct Failure: CustomNSError {
    enum Code: Int {
      case first = 1
      case second = 2

      static func ~= (code: Code, error: any Error) -> Bool { error.hasCode(code.rawValue, in: "test.failure") }
    }

    let code: Code
    static var first: Code { .first }
    static var second: Code { .second }
    static var errorDomain: String { "test.failure" }
    var errorCode: Int { code.rawValue }
  }

  private struct Other: CustomNSError {
    static let errorDomain = "test.other"
    let errorCode = 1
  }

  private func caught(_ error: any Error) -> String {
    do { throw error } catch Failure.first { return "first" } catch Failure.second { return "second" } catch {
      return "neither"
    }
  }

  @Test func `a code matches its error, and the NSError that is made of it`() {
    #expect(caught(Failure(code: .first)) == "first")
    #expect(caught(Failure(code: .second)) == "second")
    #expect(caught(Failure(code: .second) as NSError) == "second")
    #expect(caught(NSError(domain: "test.failure", code: 1)) == "first")
  }

  @Test func `a code matches no other domain and no other number`() {
    #expect(caught(Other()) == "neither")
    #expect(caught(NSError(domain: "test.failure", code: 3)) == "neither")
    #expect(caught(CancellationError()) == "neither")
  }
}
