import Testing
import VestaServiceInterop

@testable import VestaFirestoreEndpoints

/// Folders of buckets by their URIs.
@Suite struct BucketFolderTests {
  @Test(arguments: [
    ("gs://b", "b", "", ""), ("gs://b/", "b", "", ""), ("gs://b/x", "b", "x", "x"),
    ("gs://b/x//y/", "b", "x/y", "y"), ("gs://b.c/x y", "b.c", "x y", "x y"),
  ])
  func `a URI names a bucket and a path`(uri: String, bucket: String, path: String, name: String) throws {
    let folder = try BucketFolder(uri)
    #expect(folder == BucketFolder(bucket: bucket, path: path) && folder.name == name)
    #expect(try BucketFolder(folder.uri) == folder)
  }

  @Test(arguments: ["", "b/x", "gs:/b", "gs://", "gs:///x", "http://b/x"])
  func `what is no URI of a bucket is refused`(uri: String) {
    #expect(throws: ServiceStatus.self) { try BucketFolder(uri) }
  }
}
