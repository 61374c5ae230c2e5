import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreSync

/// The differences between a backend over a network and an engine in the process.
@Suite struct BackendLinkTests {
  private func error(_ code: ServiceCode) -> FirestoreServiceError { FirestoreServiceError(code, "no") }

  @Test func `a stream over a network opens with its first answer, and one of the engine with the call`() {
    #expect(BackendLink.remote.isOpening(isOpen: true, hasAnswered: false))
    #expect(!BackendLink.remote.isOpening(isOpen: true, hasAnswered: true))
    #expect(!BackendLink.embedded.isOpening(isOpen: true, hasAnswered: false))
    for link in [BackendLink.remote, .embedded] { #expect(link.isOpening(isOpen: false, hasAnswered: false)) }
  }

  @Test func `a remote backend fails for good with a refusal, and the engine with what waiting does not mend`() {
    let passing: [ServiceCode] = [
      .cancelled, .deadlineExceeded, .resourceExhausted, .unavailable, .unauthenticated, .aborted,
    ]
    for code in passing { #expect(!BackendLink.embedded.isOutage(error(code)), "\(code)") }
    for code in [ServiceCode.internal, .dataLoss, .permissionDenied, .failedPrecondition, .unknown] {
      #expect(BackendLink.embedded.isOutage(error(code)), "\(code)")
    }
    #expect(BackendLink.remote.isOutage(error(.permissionDenied)) && !BackendLink.remote.isOutage(error(.unavailable)))
  }

  @Test func `only an engine fails as a whole with the codes of damage`() {
    for code in [ServiceCode.internal, .dataLoss, .unknown] {
      #expect(BackendLink.embedded.isOutageOfEngine(error(code)))
      #expect(!BackendLink.remote.isOutageOfEngine(error(code)))
    }
    #expect(!BackendLink.embedded.isOutageOfEngine(error(.permissionDenied)))
  }

  @Test func `callers are not told of a refusal that the token of the stream may have caused`() {
    let refusal = error(.permissionDenied)
    #expect(BackendLink.remote.isOutageOfWrites(refusal, afterHandshake: false, hasToken: false))
    #expect(!BackendLink.remote.isOutageOfWrites(refusal, afterHandshake: false, hasToken: true))
    #expect(BackendLink.embedded.isOutageOfWrites(refusal, afterHandshake: false, hasToken: true))
    // After the handshake a refusal is one of the batch.
    for link in [BackendLink.remote, .embedded] {
      #expect(!link.isOutageOfWrites(refusal, afterHandshake: true, hasToken: false))
    }
    #expect(BackendLink.embedded.isOutageOfWrites(error(.dataLoss), afterHandshake: true, hasToken: true))
  }
}

/// Which changes become rows.
@Suite struct RowPolicyTests {
  private func row(_ number: UInt8, _ value: [UInt8]?) -> CacheRow { CacheRow(key: [2, number], value: value) }

  @Test func `only pending writes have rows where the engine has the documents`() {
    #expect(RowPolicy(.remote).hasDocuments && !RowPolicy(.embedded).hasDocuments)
  }

  @Test func `a write has a row from the time when the engine does not take it until it is answered`() {
    var kept = KeptBatches([[2, 1]])
    // Batch 2 is about to be committed, and batch 1 was left by an earlier client.
    #expect(kept.take([row(2, [7])], makesRows: false) == [])
    #expect(kept.take([row(2, [7]), row(3, [8])], makesRows: true) == [row(2, [7]), row(3, [8])])
    let answered = [row(1, nil), row(2, nil), row(4, nil)]
    #expect(kept.take(answered, makesRows: false) == [row(1, nil), row(2, nil)])
    #expect(kept.take(answered, makesRows: false) == [])
  }
}
