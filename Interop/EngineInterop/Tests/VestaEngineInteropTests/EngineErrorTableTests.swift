import Testing
import VestaBytes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaEngineInterop
@testable import VestaEventsInterop

@Suite struct EngineErrorTableTests {
  private func status(_ code: StoreError.Code) -> ServiceStatus {
    EngineErrorTable.status(
      of: StoreError(code, operation: "commit", path: "/data", message: "The cause.", hint: "The remedy."))
  }

  @Test(arguments: StoreError.Code.allCases)
  func `every kind of failure of a store has a row, a reason and the store's own words`(_ code: StoreError.Code) {
    #expect(EngineErrorTable.rows[code] != nil)
    let status = status(code)
    #expect(status.details.reason(in: EngineErrorTable.domain) == EngineErrorTable.reason(of: code))
    for part in ["The cause.", "The remedy.", "/data"] { #expect(status.message.contains(part)) }
  }

  @Test func `no kind of failure is missing from the list`() {
    let known = Set(StoreError.Code.allCases)
    #expect(known.count == StoreError.Code.allCases.count && known.count == EngineErrorTable.rows.count)
  }

  @Test func `a client that may try again is told so, and one that may not is not`() {
    let again: [StoreError.Code] = [.closed, .conflict, .inputOutput, .diskFull, .unknownOutcome]
    for code in again { #expect(status(code).code.isTransient, "\(code)") }
    let never: [StoreError.Code] = [.corrupt, .malformedKey, .keyTooLong, .valueTooLong, .futureVersion]
    for code in never { #expect(!status(code).code.isTransient, "\(code)") }
    #expect(status(.diskFull).code == .resourceExhausted && status(.diskFull).retryAfter == .seconds(60))
    #expect(status(.conflict).code == .aborted && status(.closed).code == .unavailable)
    #expect(status(.corrupt).code == .dataLoss && status(.unknownOutcome).code == .deadlineExceeded)
    #expect(EngineErrorTable.reason(of: .diskFull) == "DISK_FULL")
  }

  @Test func `a full queue, a damaged row and an unknown error have their status`() {
    let full = EngineErrorTable.status(for: EventOutboxFull(function: "f", pending: 3))
    #expect(full?.code == .resourceExhausted && full?.retryAfter == .seconds(60))
    #expect(EngineErrorTable.status(for: BytesError(.malformed, "cut"))?.code == .dataLoss)
    #expect(EngineErrorTable.status(for: CancellationError()) == nil)
  }
}
