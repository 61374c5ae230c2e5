import Foundation
import StorageHarness
import Testing
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageService
import VestaTesting

@testable import VestaStorage

/// Names, paths, links and URLs that another party has chosen.
@Suite struct HostileInputTests {
  let directory: TemporaryDirectory
  let harness: StorageHarness
  var storage: Storage { harness.storage }

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  @Test(arguments: [
    "../../etc/passwd", "..a", "a/../b", "%00", "%2e%2e", "a%2Fb", "C:\\x", "a\u{1}b", "e\u{301}", "\u{E9}", "/\u{301}",
    "a/\u{301}", "😀/\u{FE0F}", "\u{202E}cod", " ", "a?b=c#d&e", "+", "'\"<>|*", ".well-known/x", "~", "-rf",
  ])
  func `an object can have any name, and is found by its reference, its URL and in its listing`(
    name: String
  ) async throws {
    let data = Data(name.utf8)
    let reference = storage.reference(withPath: "h/" + name)
    _ = try await reference.putDataAsync(data)
    #expect(try await reference.data(maxSize: 1000) == data)
    let url = try await reference.downloadURL()
    #expect(try await storage.reference(for: url).data(maxSize: 1000) == data)
    #expect(try await storage.reference(forURL: reference.description).data(maxSize: 1000) == data)
    let all = try await everything(below: storage.reference(withPath: "h"))
    #expect(all.map { Array($0.utf8) } == [Array(reference.fullPath.utf8)])
    // Nothing of the name is a path of the file system.
    let files = try #require(FileManager.default.subpaths(atPath: directory.path))
    #expect(!files.contains { $0.contains("passwd") || $0.contains("cod") })
  }

  private func everything(below reference: StorageReference) async throws -> [String] {
    let list = try await reference.listAll()
    var names = list.items.map(\.fullPath)
    for prefix in list.prefixes { names += try await everything(below: prefix) }
    return names
  }

  @Test func `names that differ in their bytes alone are two objects, and two references`() async throws {
    let (composed, decomposed) = (storage.reference(withPath: "caf\u{E9}"), storage.reference(withPath: "cafe\u{301}"))
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    _ = try await composed.putDataAsync(Data([1]))
    _ = try await decomposed.putDataAsync(Data([2]))
    #expect(try await composed.data(maxSize: 9) == Data([1]))
    #expect(try await decomposed.data(maxSize: 9) == Data([2]))
    #expect(try await storage.reference().listAll().items.count == 2)
  }

  @Test func `a page begins at a name whose first character joins the delimiter`() async throws {
    for name in ["d/a", "d/\u{301}b", "d/\u{301}c"] {
      _ = try await storage.reference(withPath: name).putDataAsync(Data([1]))
    }
    let folder = storage.reference(withPath: "d")
    var page = try await folder.list(maxResults: 1)
    var names = page.items.map(\.name)
    while let token = page.pageToken {
      page = try await folder.list(maxResults: 1, pageToken: token)
      names += page.items.map(\.name)
    }
    #expect(names.map { Array($0.utf8) } == ["a", "\u{301}b", "\u{301}c"].map { Array($0.utf8) })
  }

  @Test(arguments: [
    "", "gs://", "gs:///a", "ftp://test-bucket/a", "http://", "https://h/v0/b", "https://h/v0/x/test-bucket/o/a",
    "https://h/v0/b/test-bucket/p/a", "https://h/v0/b/test-bucket/o/%FF", "javascript:alert(1)", "gs//test-bucket/a",
  ])
  func `a URL that names no object is an error, never a stop`(text: String) throws {
    guard let url = URL(string: text) else { return }
    let error = #expect(throws: StorageError.self) { try storage.reference(for: url) }
    #expect(error?.code == .pathError)
  }

  @Test func `a file target that is no file of this machine is refused`() async throws {
    _ = try await storage.reference(withPath: "a").putDataAsync(Data([1]))
    let victim = directory.path(of: "victim")
    try Data([7]).write(to: URL(fileURLWithPath: victim))
    let remote = try #require(URL(string: "https://example.com\(victim)"))
    let cut = URL(fileURLWithPath: victim + "\0.safe")
    for url in [remote, cut] {
      let error = await #expect(throws: StorageError.self) {
        try await storage.reference(withPath: "a").writeAsync(toFile: url)
      }
      #expect(error?.code == .invalidArgument)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data([7]))
    for url in [remote, cut] {
      await #expect(throws: StorageError.self) { try await storage.reference(withPath: "b").putFileAsync(from: url) }
    }
  }

  @Test func `a download that cannot take its place leaves nothing behind`() async throws {
    _ = try await storage.reference(withPath: "a").putDataAsync(Data([1]))
    let folder = directory.path(of: "folder")
    try FileManager.default.createDirectory(atPath: folder + "/full/x", withIntermediateDirectories: true)
    await #expect(throws: StorageError.self) {
      try await storage.reference(withPath: "a").writeAsync(toFile: URL(fileURLWithPath: folder + "/full"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["full"])
  }

  @Test func `a link in the place of the target is replaced, and what it points to stays`() async throws {
    _ = try await storage.reference(withPath: "a").putDataAsync(Data([1]))
    let (victim, link) = (directory.path(of: "victim"), directory.path(of: "link"))
    try Data([7]).write(to: URL(fileURLWithPath: victim))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
    _ = try await storage.reference(withPath: "a").writeAsync(toFile: URL(fileURLWithPath: link))
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data([7]))
    #expect(try Data(contentsOf: URL(fileURLWithPath: link)) == Data([1]))
  }

  @Test func `a link in the folder of the blobs is not followed`() async throws {
    let content = ClientTests.data(100_000)
    _ = try await storage.reference(withPath: "a").putDataAsync(content)
    let victim = directory.path(of: "victim")
    try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: victim))
    let folder = directory.path(of: "data")
    let blobs = try #require(FileManager.default.subpaths(atPath: folder)).filter {
      $0.contains("storage-content/blobs/") && $0.split(separator: "/").last?.count == 32
    }
    for blob in blobs {
      try FileManager.default.removeItem(atPath: "\(folder)/\(blob)")
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(blob)", withDestinationPath: victim)
    }
    #expect(blobs.count == 1)
    await #expect(throws: StorageError.self) { try await storage.reference(withPath: "a").data(maxSize: 1_000_000) }
    try await storage.reference(withPath: "a").delete()
    #expect(FileManager.default.contents(atPath: victim)?.count == 100_000)
  }

  @Test(arguments: ["cut", "empty", "changed", "longer", "a directory"])
  func `a damaged blob is an error of its object alone, and a new upload mends it`(damage: String) async throws {
    let content = ClientTests.data(100_000)
    _ = try await storage.reference(withPath: "a").putDataAsync(content)
    _ = try await storage.reference(withPath: "b").putDataAsync(Data([1]))
    let folder = directory.path(of: "data")
    let blob = try #require(
      FileManager.default.subpaths(atPath: folder)?.first {
        $0.contains("storage-content/blobs/") && $0.split(separator: "/").last?.count == 32
      })
    let url = URL(fileURLWithPath: "\(folder)/\(blob)")
    var bytes = content
    switch damage {
    case "cut": try content.prefix(50_000).write(to: url)
    case "empty": try Data().write(to: url)
    case "changed":
      bytes[70_000] ^= 1
      try bytes.write(to: url)
    case "longer": try (content + Data([1])).write(to: url)
    default:
      try FileManager.default.removeItem(at: url)
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }
    let target = URL(fileURLWithPath: directory.path(of: "down"))
    if damage == "longer" {
      // The bytes of the object are whole; what follows them was never a part of it.
      #expect(try await storage.reference(withPath: "a").data(maxSize: 1_000_000) == content)
    } else {
      await #expect(throws: StorageError.self) { try await storage.reference(withPath: "a").data(maxSize: 1_000_000) }
      await #expect(throws: StorageError.self) { try await storage.reference(withPath: "a").writeAsync(toFile: target) }
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
    #expect(try await storage.reference(withPath: "b").data(maxSize: 10) == Data([1]))
    _ = try await storage.reference(withPath: "a").putDataAsync(content)
    #expect(try await storage.reference(withPath: "a").data(maxSize: 1_000_000) == content)
  }

  @Test func `files in the folder of the blobs that are none do not stop the removal of orphans`() async throws {
    let root = directory.path(of: "blobs")
    let blobs = FileBlobStore(directory: root)
    let id = try #require(BlobID(rawValue: "orphan"))
    let writer = try await blobs.write(id, keeping: 0)
    try await writer.append([1])
    try await writer.seal()
    for path in ["blobs/stray", "blobs/or/.hidden", "partial/UPPER", "partial/with space"] {
      try Data([1]).write(to: URL(fileURLWithPath: "\(root)/\(path)"))
    }
    #expect(try await blobs.list() == [id])
  }

  @Test func `what is kept of uploads is for its owner alone, and a download has the permissions of a new file`()
    async throws
  {
    let file = URL(fileURLWithPath: directory.path(of: "file"))
    try ClientTests.data(2_000_000).write(to: file)
    let task = storage.reference(withPath: "a").putFile(from: file)
    while !FileManager.default.fileExists(atPath: storage.uploads.directory.path) { await Task.yield() }
    let kept = try FileManager.default.attributesOfItem(atPath: storage.uploads.directory.path)
    #expect((kept[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
    for try await _ in task.progressUpdates {}
    let target = directory.path(of: "down")
    _ = try await storage.reference(withPath: "a").writeAsync(toFile: URL(fileURLWithPath: target))
    let made = directory.path(of: "made")
    #expect(FileManager.default.createFile(atPath: made, contents: Data()))
    let (ours, usual) = (
      try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int,
      try FileManager.default.attributesOfItem(atPath: made)[.posixPermissions] as? Int
    )
    #expect(ours == usual)
  }
}
