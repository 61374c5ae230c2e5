import Testing

@testable import VestaFirestoreEndpoints

/// Where calls of one method run.
@Suite struct CallLoadTests {
  @Test func `a call runs on its loop while it is alone, and those beside it do not`() {
    let load = CallLoad()
    #expect((0..<3).map { _ in load.begin() == nil } == [true, false, false])
    load.end()
    load.end()
    #expect(load.begin() != nil)
    load.end()
    load.end()
    #expect(load.begin() == nil)
  }
}
