import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct NameEncodingTests {
  @Test(arguments: ["c", "c/a", "c/a/d", "c/__id7__", "é/\0/x"])
  func `the name of a document is encoded as a reference to it, whole and with its end`(name: String) {
    let path = ResourcePath(splitting: name)
    var (ascending, descending) = (IndexEncoder(), IndexEncoder())
    ascending.append(path: path)
    descending.append(path: path, descending: true)
    #expect([IndexTag.reference] + ascending.bytes == IndexEncoder.encode(.reference(name)))
    #expect(descending.bytes == ascending.bytes.map { ~$0 })
    // A name that begins another one does not begin its bytes.
    var longer = IndexEncoder()
    longer.append(path: ResourcePath(splitting: name + "/x"))
    #expect(!longer.bytes.starts(with: ascending.bytes) && ascending.bytes.lexicographicallyPrecedes(longer.bytes))
  }
}
