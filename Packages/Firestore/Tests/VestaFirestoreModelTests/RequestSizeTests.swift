import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct RequestSizeTests {
  @Test func `a write counts with its name, its fields, its mask and its transforms`() {
    let fields: MapValue = ["a": .integer(1)]
    let document = Document(name: "n", fields: fields)
    let transforms = [
      FieldTransform(fieldPath: "xyz", .increment(.integer(1))), FieldTransform(fieldPath: "t", .serverTimestamp),
      FieldTransform(fieldPath: "l", .appendMissingElements([.integer(1), .string("ab")])),
    ]
    let whole = 1 + DocumentSize.size(of: fields)
    let mask = (1 + 1) + (3 + 1)
    #expect(RequestSize.size(of: .delete("n")) == 1)
    #expect(RequestSize.size(of: .update(document)) == whole)
    #expect(RequestSize.size(of: .update(document, mask: DocumentMask(fieldPaths: ["a", "b.c"]))) == whole + mask)
    #expect(
      RequestSize.size(of: .update(document, transforms: transforms)) == whole + (4 + 8) + (2 + 1) + (2 + 8 + 3))
  }
}
