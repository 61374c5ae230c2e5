import Foundation
import Testing
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaStorage

@Suite struct StorageLocationTests {
  @Test(arguments: [
    ("gs://b", "b", ""), ("gs://b/", "b", ""), ("gs://b/a/c", "b", "a/c"), ("gs://b//a///c/", "b", "a/c"),
    ("gs://b/a%2Fc", "b", "a%2Fc"), ("http://h/v0/b/b/o/a%2Fc?alt=media&token=x", "b", "a/c"),
    ("https://h:9199/v0/b/b/o/a/c", "b", "a/c"), ("https://h/v0/b/b", "b", ""), ("https://h/v0/b/b/o", "b", ""),
    ("https://h/v0/b/b/o/%C3%A4%20b", "b", "ä b"),
    ("https://h/v0/b/b/o/a%252Fc", "b", "a%2Fc"),
  ])
  func `URLs name a bucket and a path`(url: String, bucket: String, path: String) throws {
    let location = try StorageLocation.parse(url)
    #expect(location.bucket == bucket)
    #expect(location.path == path)
  }

  @Test(arguments: [
    "", "a/b", "ftp://b/a", "gs://", "gs:///a", "https://h/v1/b/b/o/a", "https://h/v0/b", "https://h/v0/b/b/x/a",
    "://", "gs:b",
  ])
  func `other URLs are refused`(url: String) {
    #expect { try StorageLocation.parse(url) } throws: { ($0 as? StorageError)?.code == .pathError }
  }

  @Test func `a path has components, a parent and children`() {
    let root = StorageLocation(bucket: "b", path: "//")
    #expect(root.path == "" && root.name == "" && root.parent == nil)
    let child = root.child("/a//b/").child("c")
    #expect(child.path == "a/b/c" && child.name == "c" && child.gsURL == "gs://b/a/b/c")
    #expect(child.parent?.path == "a/b")
    #expect(child.parent?.parent?.parent == root)
  }

  @Test func `another bucket is refused, and an instance without one accepts any`() throws {
    let location = StorageLocation(bucket: "x", path: "a")
    try location.check(bucketOfInstance: "x")
    try location.check(bucketOfInstance: "")
    #expect { try location.check(bucketOfInstance: "y") } throws: { ($0 as? StorageError)?.code == .bucketMismatch }
  }

  @Test func `random text never crashes the parser`() {
    var random = SplitMix(seed: 99)
    let pieces = ["gs://", "http://", "https://", "/v0/b/", "/o/", "%", "%2F", "ä", "//", "?", "#", "b", "\u{0}", " "]
    for _ in 0..<5000 {
      let text = (0..<random.below(8)).map { _ in pieces[random.below(pieces.count)] }.joined()
      if let location = try? StorageLocation.parse(text) {
        #expect(!location.path.hasPrefix("/") && !location.path.hasSuffix("/") && !location.path.contains("//"))
      }
    }
  }
}

@Suite struct MetadataTests {
  @Test func `a dictionary is read and written`() {
    let dictionary: [String: AnyHashable] = [
      "bucket": "b", "name": "a/c", "contentType": "text/plain", "size": "12", "generation": "34", "metageneration": 2,
      "timeCreated": "2026-11-21T23:00:00.500Z", "updated": "2026-11-21T23:00:00Z", "md5Hash": "x",
      "metadata": ["k": "v"],
    ]
    let metadata = StorageMetadata(dictionary: dictionary)
    #expect(metadata.name == "c" && metadata.path == "a/c" && metadata.size == 12 && metadata.generation == 34)
    #expect(metadata.metageneration == 2 && metadata.customMetadata == ["k": "v"])
    #expect(metadata.timeCreated == Date(timeIntervalSince1970: 1_795_302_000.5))
    #expect(metadata.updated == nil, "dates without milliseconds are not read")
    #expect(!metadata.isFile && !metadata.isFolder)
    let again = StorageMetadata(dictionary: metadata.dictionaryRepresentation())
    #expect(again == metadata)
  }

  @Test func `fresh metadata sends what is set and removes nothing`() {
    let metadata = StorageMetadata()
    metadata.cacheControl = "no-store"
    var change = MetadataChange()
    change.cacheControl = .set("no-store")
    #expect(metadata.change == change)
    #expect(StorageMetadata().change == MetadataChange())
    #expect(StorageMetadata().size == 0)
  }

  @Test func `metadata that was read sends its differences`() {
    let object = StorageObject(
      name: ObjectName(bucket: "b", name: "n"), generation: 1, size: 1, crc32c: 0, md5: nil, timeCreated: 0, updated: 0,
      metadata: ObjectMetadata(contentType: "a/b", contentLanguage: "de", custom: ["x": "1", "y": "2"]))
    let metadata = StorageMetadata(object)
    #expect(metadata.change == MetadataChange())
    metadata.contentLanguage = nil
    metadata.contentType = "c/d"
    metadata.customMetadata = ["x": "1", "z": "3"]
    var change = MetadataChange()
    change.contentLanguage = .remove
    change.contentType = .set("c/d")
    change.custom = .set(["y": nil, "z": "3"])
    #expect(metadata.change == change)
    metadata.customMetadata = nil
    #expect(metadata.change.custom == .remove)
  }

  @Test func `a copy changes by itself`() {
    let metadata = StorageMetadata()
    let copy = metadata.copy() as? StorageMetadata
    copy?.contentType = "a/b"
    #expect(metadata.contentType == nil)
  }

  @Test func `extensions have media types`() {
    #expect(MediaTypes.type(forExtension: "JPG") == "image/jpeg")
    #expect(MediaTypes.type(forExtension: "nothing") == "application/octet-stream")
    #expect(MediaTypes.type(forExtension: "") == "application/octet-stream")
  }
}

@Suite struct ErrorTests {
  static let object = ObjectName(bucket: "b", name: "o")

  @Test(arguments: [
    (ServiceCode.notFound, StorageErrorCode.objectNotFound), (.unauthenticated, .unauthenticated),
    (.permissionDenied, .unauthorized), (.resourceExhausted, .quotaExceeded), (.cancelled, .cancelled),
    (.invalidArgument, .unknown), (.internal, .unknown), (.failedPrecondition, .unknown), (.unavailable, .unknown),
  ])
  func `codes of the service have codes of Storage`(code: ServiceCode, expected: StorageErrorCode) {
    let error = StorageErrorTable.error(for: StorageServiceError(code, "why"), object: Self.object)
    #expect(error.code == expected)
    #expect(StorageError.errorDomain == "FIRStorageErrorDomain")
    #expect((error as NSError).code == expected.rawValue)
  }

  @Test func `texts equal upstream's`() {
    let missing = StorageErrorTable.error(for: StorageServiceError(.notFound, ""), object: Self.object)
    #expect(missing.localizedDescription == "Object o does not exist.")
    let denied = StorageErrorTable.error(for: StorageServiceError(.permissionDenied, ""), object: Self.object)
    #expect(denied.localizedDescription == "User does not have permission to access gs://b/o.")
    #expect(StorageError.cancelled.localizedDescription == "User cancelled the upload/download.")
    let info = StorageError.downloadSizeExceeded(total: 5, maxSize: 4).errorUserInfo
    #expect(info["totalSize"] as? Int64 == 5 && info["maxAllowedSize"] as? Int64 == 4)
  }

  @Test func `a quota that is exceeded says the cause that the backend names`() {
    let upstream = "Quota for bucket b exceeded, please view quota on firebase.google.com."
    func text(_ message: String) -> String {
      StorageErrorTable.error(for: StorageServiceError(.resourceExhausted, message), object: Self.object)
        .localizedDescription
    }
    #expect(text("") == upstream)
    #expect(text("There is no room left.") == "\(upstream) The backend says: There is no room left.")
  }

  @Test func `a thrown error matches its code, its type and NSError`() {
    func caught(_ error: StorageError) -> [String] {
      let failure: any Error = error.thrown
      var matches: [String] = []
      do { throw failure } catch StorageErrorCode.objectNotFound { matches.append("code") } catch {}
      do { throw failure } catch let code as StorageErrorCode { matches.append("\(code)") } catch {}
      do { throw failure } catch StorageError.objectNotFound(let object, _) { matches.append(object) } catch {}
      do { throw failure } catch let error as StorageError { matches.append("\(error.code)") } catch {}
      do { throw failure } catch let error as NSError { matches.append("\(error.domain) \(error.code)") }
      return matches
    }
    let missing = StorageError.objectNotFound(object: "o", serverError: [:])
    #expect(caught(missing) == ["code", "objectNotFound", "o", "objectNotFound", "FIRStorageErrorDomain -13010"])
    #expect(caught(.cancelled) == ["cancelled", "cancelled", "FIRStorageErrorDomain -13040"])
    #expect("\(missing.thrown)" == "\(missing)" && missing.thrown.localizedDescription == missing.localizedDescription)
  }

  @Test func `content that did not match is a checksum error`() {
    let error = StorageServiceError(.dataLoss, "", reason: .contentMismatch)
    #expect(StorageErrorTable.error(for: error, object: Self.object).code == .nonMatchingChecksum)
  }
}

@Suite struct ServiceAddressTests {
  @Test func `a download URL names the service, the escaped object and the token`() {
    let url = ServiceAddress().downloadURL(bucket: "b", name: "a/ö?.txt", token: "t&t")
    #expect(
      url?.absoluteString
        == "https://firebasestorage.googleapis.com:443/v0/b/b/o/a%2F%C3%B6%3F.txt?alt=media&token=t%26t")
  }

  @Test func `a page has 1 to 1000 results`() throws {
    #expect(try StorageReference.checked(1) == 1 && StorageReference.checked(1000) == 1000)
    for wrong in [Int64.min, -1, 0, 1001, .max] {
      #expect { try StorageReference.checked(wrong) } throws: { ($0 as? StorageError)?.code == .invalidArgument }
    }
  }
}

@Suite struct LookalikeTests {
  @Test func `locations are compared by their bytes`() throws {
    let composed = StorageLocation(bucket: "b", path: "caf\u{E9}")
    let decomposed = StorageLocation(bucket: "b", path: "cafe\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
  }

  @Test func `a combining character after a slash belongs to the path`() throws {
    let location = try StorageLocation.parse("gs://bucket/\u{301}x")
    #expect(location.bucket == "bucket")
    #expect(Array(location.path.utf8) == Array("\u{301}x".utf8))
    #expect(location.name.unicodeScalars.count == 2)
  }

  @Test(arguments: ["https://h/f", "file:///a%00b", "gs://b/o"])
  func `a URL that is no file of this machine has no path here`(text: String) throws {
    #expect(try #require(URL(string: text)).localPath == nil)
    #expect(URL(fileURLWithPath: "/a b").localPath == "/a b")
  }
}
