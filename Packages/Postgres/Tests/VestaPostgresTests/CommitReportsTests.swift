import Testing
import VestaConcurrency
import VestaStoreInterop

@testable import VestaPostgres

/// The notification of observers, without a server.
@Suite struct CommitReportsTests {
  @Test func `a version is reported once, whichever source reports it first`() {
    let reports = CommitReports(after: 4)
    let heard = Locked<[Int64]>([])
    let registration = reports.registry.add { version in heard.withLock { $0.append(version.microseconds) } }
    for versions in [[3, 4, 5], [5, 6], [], [6]] as [[Int64]] { reports.report(versions) }
    #expect(heard.withLock { $0 } == [5, 6] && reports.reported == 6)
    registration.cancel()
  }

  @Test func `a stream that is finished during a report ends after its commits`() async {
    let reports = CommitReports(after: 0)
    let stream = reports.registry.events
    let registration = reports.registry.add { _ in reports.finish() }
    reports.report([1, 2])
    var heard: [Int64] = []
    for await version in stream { heard.append(version.microseconds) }
    #expect(heard == [1, 2])
    registration.cancel()
  }
}
