import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

/// Rows at their limits.
@Suite struct CodingTests {
  private func bytes(_ value: Value) -> [UInt8] {
    var writer = RowWriter()
    writer.write(value: value)
    return writer.bytes
  }

  private func read(_ bytes: [UInt8]) throws -> Value {
    var reader = RowReader(bytes)
    return try reader.value()
  }

  @Test func `a mutation keeps its precondition`() throws {
    let preconditions: [Precondition?] = [
      nil, .exists(true), .exists(false), .updateTime(Timestamp(seconds: 5, nanos: 6)),
    ]
    for precondition in preconditions {
      let mutation = Mutation(ResourcePath(["c", "a"]), .delete, precondition: precondition)
      #expect(try Mutation(mutation.bytes) == mutation)
    }
  }

  @Test func `values that are deeper than any that is written are damage, and use up no stack`() throws {
    func arrays(_ depth: Int) -> Value { (0..<depth).reduce(.null) { value, _ in .array([value]) } }
    func maps(_ depth: Int) -> Value { (0..<depth).reduce(.null) { value, _ in .map(["m": value]) } }
    for value in [arrays(65), maps(64)] { #expect(try read(bytes(value)) == value) }
    for value in [arrays(66), maps(65)] {
      #expect(throws: FirestoreServiceError.self) { try read(bytes(value)) }
    }
    // A million arrays in one another, as bytes alone: the tag of an array and a count of one.
    let array = Array(bytes(arrays(1)).dropLast())
    let deep = Array([[UInt8]](repeating: array, count: 1_000_000).joined())
    #expect(throws: FirestoreServiceError.self) { try read(deep) }
  }
}
