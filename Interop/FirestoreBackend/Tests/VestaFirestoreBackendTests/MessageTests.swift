import Testing
import VestaFirestoreBackend

@Suite struct MessageTests {
  @Test func `an error prints its code as the wire writes it`() {
    let error = FirestoreServiceError(.aborted, "again")
    #expect("\(error)" == "ABORTED: again")
    #expect(throws: error) { throw error }
  }

  @Test func `an error can be caught by its code`() {
    do {
      throw FirestoreServiceError(.aborted, "again")
    } catch let error as FirestoreServiceError where error.code == .aborted {
      return
    } catch {
      Issue.record("the code did not match")
    }
  }

  @Test func `a write knows its document`() {
    let transform = FieldTransform(fieldPath: "a", .serverTimestamp)
    #expect(Write.update(Document(name: "n"), transforms: [transform]).name == "n")
    #expect(Write.update(Document(name: "n"), transforms: [transform]).transforms == [transform])
    #expect(Write.delete("n").name == "n" && Write.delete("n").transforms.isEmpty)
    #expect(Write.verify("n", precondition: .exists(true)).name == "n")
    #expect(Write(.transform(name: "n", transforms: [transform])).name == "n")
  }
}
