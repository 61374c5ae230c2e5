import Testing
import VestaDatabaseBackend
import VestaDatabaseModel

@testable import VestaDatabase

@Suite struct KeyBoundTests {
  private func refusal(_ body: (inout QueryTerms) throws -> Void) -> InvalidValue? {
    var terms = QueryTerms()
    do {
      try terms.order(by: .key)
      try body(&terms)
      return nil
    } catch {
      return error as? InvalidValue
    }
  }

  @Test func `keys may lie between any texts, but are equal to keys only`() {
    #expect(refusal { try $0.start("a.b", key: nil, "f") } == nil)
    #expect(refusal { try $0.end("a.b", key: nil, "f") } == nil)
    #expect(refusal { try $0.equal("ab", key: nil, "f") } == nil)
    #expect(refusal { try $0.equal("a.b", key: nil, "f") } != nil)
    #expect(refusal { try $0.start(1, key: nil, "f") } != nil)
  }
}
