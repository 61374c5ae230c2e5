import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

@Suite struct BundleReaderTests {
  private static let metadata =
    #"{"metadata":{"id":"b","createTime":{"seconds":1},"version":1,"totalDocuments":0,"totalBytes":0}}"#

  private func read(_ length: String) throws -> (element: BundleElement, size: Int)? {
    var reader = BundleReader(Array((length + Self.metadata).utf8), database: database)
    return try reader.next()
  }

  @Test func `a length has one to ten digits`() throws {
    let length = "\(Self.metadata.utf8.count)"
    let longest = String(repeating: "0", count: 10 - length.count) + length
    for length in [length, longest] {
      let (element, size) = try #require(try read(length))
      #expect(size == length.utf8.count + Self.metadata.utf8.count)
      if case .metadata(let metadata) = element {
        #expect(metadata.bundle.id == UTF8String("b"))
      } else {
        Issue.record("\(element)")
      }
    }
    for length in ["", "0" + longest] { #expect(throws: FirestoreServiceError.self) { try read(length) } }
  }
}
