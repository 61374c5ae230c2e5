import Testing
import VestaConcurrency
import VestaFiles
import VestaStorageBackend
import VestaTesting

@testable import VestaStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of unfinished transfers: what cannot be read is kept and reported, and never forgotten in silence.
@Suite struct TransferBookTests {
  private static let location = StorageLocation(bucket: "b", path: "a")

  /// A book that knows one upload of the file `file`.
  private func book(in directory: TemporaryDirectory) throws -> (UploadSessionBook, UploadSessionBook.Entry) {
    try directory.write([1, 2, 3], to: "file")
    let path = directory.path(of: "file")
    let entry = UploadSessionBook.Entry(
      session: "s", location: Self.location, path: path, identity: try OpenFile(reading: path).identity(),
      metadata: StorageMetadata())
    let book = UploadSessionBook(directory: URL(filePath: directory.path(of: "uploads")))
    book.remember(entry)
    return (book, entry)
  }

  /// The names of the files of a book.
  private func names(_ directory: TemporaryDirectory) throws -> [String] {
    try DurableFile.names(in: directory.path(of: "uploads"))
  }

  @Test func `an unfinished upload is found again while its file is the same`() throws {
    let directory = try TemporaryDirectory()
    let (book, entry) = try book(in: directory)
    #expect(book.interrupted() == [entry])
    #expect(book.claim(entry.key) && book.interrupted() == [])
    book.release(entry.key, nil)
    try directory.write([1, 2, 3, 4], to: "file")
    #expect(book.interrupted() == [])
    #expect(try names(directory) == [])
  }

  @Test func `a damaged state is set aside with its bytes, and the other uploads continue`() throws {
    let directory = try TemporaryDirectory()
    let (book, entry) = try book(in: directory)
    for (number, bytes) in [[], Array("{".utf8), Array(#"{"session":"s"}"#.utf8), [0xFF]].enumerated() {
      try directory.write(bytes, to: "uploads/\(number).upload")
    }
    for _ in 0..<2 { #expect(book.interrupted() == [entry]) }
    let kept = try names(directory).filter { $0.hasSuffix(".damaged") }.sorted()
    #expect(kept == (0..<4).map { "\($0).upload.damaged" })
    #expect(try directory.bytes(of: "uploads/1.upload.damaged") == Array("{".utf8))
  }

  @Test func `a state that cannot be read at present stays where it is`() throws {
    let directory = try TemporaryDirectory()
    let (book, entry) = try book(in: directory)
    // A directory cannot be read as a file, whatever user runs the test.
    try DurableFile.makeDirectory(directory.path(of: "uploads/other.upload"))
    #expect(book.interrupted() == [entry])
    #expect(try names(directory).contains("other.upload"))
  }

  @Test func `an upload whose file cannot be opened at present is kept`() throws {
    let directory = try TemporaryDirectory()
    let (book, entry) = try book(in: directory)
    let path = directory.path(of: "file")
    try DurableFile.move(path, to: path + ".moved")
    // A symbolic link is refused: the file is there, and cannot be opened.
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".moved")
    #expect(book.interrupted() == [])
    #expect(try names(directory).count == 1)
    try FileManager.default.removeItem(atPath: path)
    try DurableFile.move(path + ".moved", to: path)
    #expect(book.interrupted() == [entry])
    try FileManager.default.removeItem(atPath: path)
    #expect(book.interrupted() == [])
    #expect(try names(directory) == [])
  }
}

/// The file that an earlier process has left of a download.
@Suite struct DownloadLeftoverTests {
  @Test func `the rest of a download that cannot be opened is deleted`() async throws {
    let directory = try TemporaryDirectory()
    let target = directory.path(of: "files/target")
    try FileManager.default.createDirectory(atPath: directory.path(of: "files"), withIntermediateDirectories: true)
    try directory.write([1, 2, 3], to: "files/victim")
    let temporary = directory.path(of: "files/.target.part")
    // Links are not followed, so the file cannot be opened; it is there all the same.
    try FileManager.default.createSymbolicLink(
      atPath: temporary, withDestinationPath: directory.path(of: "files/victim"))
    let location = StorageLocation(bucket: "bucket", path: "a")
    let object = StorageObject(
      name: ObjectName(bucket: "bucket", name: "a"), generation: 1, size: 1 << 24, crc32c: 0, md5: nil, timeCreated: 0,
      updated: 0, metadata: ObjectMetadata())
    let book = DownloadBook(directory: URL(fileURLWithPath: directory.path(of: "book")))
    book.remember(location, target, temporary: temporary, object)
    let file = FileTarget(URL(fileURLWithPath: target), location, book)
    #expect(try await file.prepare() == nil)
    #expect(book.entry(location, target) == nil)
    #expect(directory.names.filter { $0.hasPrefix("files/") } == ["files/victim"])
    #expect(try directory.bytes(of: "files/victim") == [1, 2, 3])
  }

  private static let location = StorageLocation(bucket: "bucket", path: "a")

  private func book(_ directory: TemporaryDirectory, now: @escaping @Sendable () -> Int64 = { 0 }) -> DownloadBook {
    DownloadBook(directory: URL(fileURLWithPath: directory.path(of: "book")), now: now)
  }

  @Test(arguments: [(9, Int64?(9)), (10, 10), (11, nil)])
  func `what is left is continued unless it is longer than the object`(length: Int, continued: Int64?) async throws {
    let directory = try TemporaryDirectory()
    let (target, temporary) = (directory.path(of: "target"), directory.path(of: ".target.part"))
    try directory.write([UInt8](repeating: 7, count: length), to: ".target.part")
    let book = book(directory)
    book.remember(Self.location, target, temporary: temporary, DownloadMachineTests.object(10))
    let file = FileTarget(URL(fileURLWithPath: target), Self.location, book)
    #expect(try await file.prepare()?.length == continued)
    // A discarded download leaves no file, no note and no claim.
    file.discard()
    #expect(!directory.names.contains(".target.part"))
    #expect(book.entry(Self.location, target) == nil)
    let key = DownloadBook.key(Self.location, target)
    #expect(book.claim(key))
    book.release(key)
  }

  @Test func `one download of an object to a file at a time continues what is left`() async throws {
    let directory = try TemporaryDirectory()
    let target = directory.path(of: "target")
    try directory.write([7], to: ".target.part")
    let book = book(directory)
    book.remember(
      Self.location, target, temporary: directory.path(of: ".target.part"), DownloadMachineTests.object(10))
    let (first, second) = (
      FileTarget(URL(fileURLWithPath: target), Self.location, book),
      FileTarget(URL(fileURLWithPath: target), Self.location, book)
    )
    #expect(try await first.prepare()?.length == 1)
    #expect(try await second.prepare() == nil)
    // The second one has nothing to release.
    second.discard()
    #expect(!book.claim(DownloadBook.key(Self.location, target)))
    first.discard()
  }

  @Test func `a transfer that was not continued for a week is removed with its file, and not before`() throws {
    let directory = try TemporaryDirectory()
    let now = Locked<Int64>(1_000)
    let book = book(directory) { now.withLock { $0 } }
    func remember(_ name: String) throws {
      try directory.write([7], to: ".\(name).part")
      book.remember(
        Self.location, directory.path(of: name), temporary: directory.path(of: ".\(name).part"),
        DownloadMachineTests.object(10))
    }
    try remember("old")
    now.withLock { $0 += DownloadBook.lifetime }
    try remember("new")
    #expect(directory.names.filter { $0.hasSuffix(".part") }.sorted() == [".new.part", ".old.part"])
    now.withLock { $0 += 1 }
    try remember("newer")
    #expect(directory.names.filter { $0.hasSuffix(".part") }.sorted() == [".new.part", ".newer.part"])
    #expect(book.entry(Self.location, directory.path(of: "old")) == nil)
  }
}
