import Testing

@testable import VestaFirestoreEndpoints

/// Where calls of one method run.
@Suite struct CallPlaceTests {
  @Test func `a call runs on its loop while it is alone, and concurrent ones do not`() {
    let load = CallLoad()
    var places = (0..<3).map { _ in CallPlace(load) }
    #expect(places.map { $0.executor == nil } == [true, false, false])
    // Two ended, or never ran.
    places.removeFirst(2)
    #expect(CallPlace(load).executor != nil)
    places = []
    #expect(CallPlace(load).executor == nil)
  }
}
