import VestaFirestoreBackend
import Testing

@Suite struct MessageTests {
  @Test func codesHaveTheNamesOfTheWire() {
    #expect("\(ServiceCode.invalidArgument)" == "INVALID_ARGUMENT")
    #expect("\(ServiceCode.unauthenticated)" == "UNAUTHENTICATED")
    #expect("\(ServiceCode(wire: 77))" == "CODE_77")
    #expect(throws: FirestoreServiceError(.aborted, "again")) { throw FirestoreServiceError(.aborted, "again") }
  }

  @Test func codesCanBeCaught() {
    do {
      throw FirestoreServiceError(.aborted, "again")
    } catch let error as FirestoreServiceError where error.code == .aborted {
      return
    } catch {
      Issue.record("the code did not match")
    }
  }

  @Test func writesKnowTheirDocument() {
    let transform = FieldTransform(fieldPath: "a", .serverTimestamp)
    #expect(Write.update(Document(name: "n"), transforms: [transform]).name == "n")
    #expect(Write.update(Document(name: "n"), transforms: [transform]).transforms == [transform])
    #expect(Write.delete("n").name == "n" && Write.delete("n").transforms.isEmpty)
    #expect(Write.verify("n", precondition: .exists(true)).name == "n")
    #expect(Write(.transform(name: "n", transforms: [transform])).name == "n")
  }

  @Test func duplexCallsHandEverythingOn() async throws {
    let (responses, continuation) = AsyncThrowingStream<[Int], any Error>.makeStream()
    let call = DuplexCall<Int, Int>(
      responses: responses,
      send: { continuation.yield([$0, $0 * 10]) },
      finish: { continuation.finish() },
      cancel: { continuation.finish(throwing: FirestoreServiceError(.cancelled, "")) }
    )
    call.send(1)
    call.send(2)
    call.finish()
    call.cancel()
    call.send(3)
    var received: [Int] = []
    for try await batch in call.responses { received += batch }
    #expect(received == [1, 10, 2, 20])
  }
}
