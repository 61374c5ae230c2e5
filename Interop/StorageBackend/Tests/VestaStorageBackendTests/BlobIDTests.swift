import Testing
import VestaStorageBackend

@Suite struct BlobIDTests {
  @Test(arguments: ["", "A", "a-b", "../a", "a/b", "ä", String(repeating: "a", count: 65)])
  func `a blob id that is no plain file name is refused`(text: String) {
    #expect(BlobID(rawValue: text) == nil)
  }

  @Test func `letters and digits make a blob id`() {
    #expect(BlobID(rawValue: "0af9")?.rawValue == "0af9")
  }

  @Test func `the description of an upload id hides the secret`() {
    #expect("\(UploadID(rawValue: "0123456789abcdef"))" == "upload 012345")
  }
}
