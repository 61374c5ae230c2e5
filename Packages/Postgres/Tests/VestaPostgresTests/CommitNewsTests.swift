import Testing
import VestaConcurrency
import VestaStoreInterop

@testable import VestaPostgres

/// The notification of observers, without a server.
@Suite struct CommitNewsTests {
  @Test func `a version is reported once, whichever source reports it first`() {
    let news = CommitNews(after: 4)
    let heard = Locked<[Int64]>([])
    let registration = news.registry.add { version in heard.withLock { $0.append(version.microseconds) } }
    for versions in [[3, 4, 5], [5, 6], [], [6]] as [[Int64]] { news.tell(versions) }
    #expect(heard.withLock { $0 } == [5, 6] && news.told == 6)
    registration.cancel()
  }

  @Test func `a stream that is finished during a report ends after its commits`() async {
    let news = CommitNews(after: 0)
    let stream = news.registry.events
    let registration = news.registry.add { _ in news.finish() }
    news.tell([1, 2])
    var heard: [Int64] = []
    for await version in stream { heard.append(version.microseconds) }
    #expect(heard == [1, 2])
    registration.cancel()
  }
}
