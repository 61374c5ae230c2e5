import Testing
import VestaServiceInterop
import VestaStorageBackend

@testable import VestaStorage

/// What the log says about an operation that waits.
@Suite struct RetryNoticeTests {
  private let object = ObjectName(bucket: "b", name: "photos/1.jpg")

  @Test(arguments: [
    (RetryNotice.Operation.upload, "The upload of gs://b/photos/1.jpg waits", "until maxUploadRetryTime is over"),
    (.download, "The download of gs://b/photos/1.jpg waits", "until maxDownloadRetryTime is over"),
    (.call, "The call of gs://b/photos/1.jpg waits", "until maxOperationRetryTime is over"),
  ])
  func `the first failure is named with its cause and the limit, and those after it are not`(
    operation: RetryNotice.Operation, start: String, limit: String
  ) throws {
    var notice = RetryNotice(operation, of: object)
    let cause = StorageServiceError(.unavailable, "Cannot connect to 127.0.0.1:7700: Connection refused.")
    let first = notice.sentence(after: cause)
    let sentence = try #require(first)
    #expect(sentence.hasPrefix(start) && sentence.contains(limit) && sentence.contains("Connection refused."))
    let second = notice.sentence(after: cause)
    #expect(second == nil)
  }
}
