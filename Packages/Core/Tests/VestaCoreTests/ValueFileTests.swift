import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaTesting

@Suite struct ValueFileTests {
  private struct Value: Codable, Sendable, Equatable {
    var number = 0
    var texts: [String] = []
  }

  private func makeFile() throws -> (TemporaryDirectory, URL) {
    let directory = try TemporaryDirectory("value-file")
    return (directory, URL(filePath: directory.path, directoryHint: .isDirectory).appending(path: "a/b/value.json"))
  }

  @Test func `a value is there again, and nothing is there without a file`() throws {
    let (directory, url) = try makeFile()
    #expect(ValueFile<Value>(url).load() == nil)
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1, texts: ["é", ""]) }
    #expect(file.load() == Value(number: 1, texts: ["é", ""]))
    try file.save { Value(number: 2) }
    #expect(ValueFile<Value>(url).load() == Value(number: 2))
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: ["", "{", "{\"number\":\"one\"}", "\u{0}\u{0}\u{0}"])
  func `a damaged file is kept under another name, and the next value is saved in its place`(text: String) throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1) }
    try Data(text.utf8).write(to: url)
    #expect(file.load() == nil)
    let damaged = url.deletingLastPathComponent().appending(path: "value.json.damaged")
    #expect(try Data(contentsOf: damaged) == Data(text.utf8))
    try file.save { Value(number: 2) }
    #expect(file.load() == Value(number: 2))
    #expect(try Data(contentsOf: damaged) == Data(text.utf8))
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: ["", "{", "{\"number\":\"one\"}", "\u{0}\u{0}\u{0}"])
  func `reading throws the damage and the path of the kept file, once`(text: String) throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1) }
    try Data(text.utf8).write(to: url)
    let damage = #expect(throws: DamagedFile.self) { try file.read() }
    #expect(damage?.path == url.path && damage?.keptAs == url.path + ".damaged")
    #expect(damage?.description.contains(url.path + ".damaged") == true)
    #expect(try Data(contentsOf: URL(filePath: url.path + ".damaged")) == Data(text.utf8))
    #expect(try file.read() == nil)
    withExtendedLifetime(directory) {}
  }

  @Test func `a damaged file is replaced by a substitute, and its bytes are kept`() throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1) }
    try Data("{".utf8).write(to: url)
    #expect(throws: DamagedFile.self) { try file.read(damagedAs: Value(number: 7)) }
    #expect(try file.read(damagedAs: Value(number: 8)) == Value(number: 7))
    #expect(try Data(contentsOf: URL(filePath: url.path + ".damaged")) == Data("{".utf8))
    withExtendedLifetime(directory) {}
  }

  @Test func `a damaged file stays in its place when its bytes cannot be kept elsewhere`() throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1) }
    try Data("{".utf8).write(to: url)
    // A directory cannot be replaced by a file, whatever user runs the test.
    let aside = URL(filePath: url.path + ".damaged")
    try FileManager.default.createDirectory(at: aside.appending(path: "x"), withIntermediateDirectories: true)
    for substitute in [nil, Value(number: 7)] {
      let damage = #expect(throws: DamagedFile.self) { try file.read(damagedAs: substitute) }
      #expect(damage?.keptAs == nil)
      #expect(try Data(contentsOf: url) == Data("{".utf8))
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `a file that cannot be read at present stays where it is, and reading throws why`() throws {
    let (directory, url) = try makeFile()
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    #expect(throws: FileFailure.self) { try ValueFile<Value>(url).read() }
    #expect(throws: FileFailure.self) { try ValueFile<Value>(url).read(damagedAs: Value()) }
    #expect(FileManager.default.fileExists(atPath: url.path))
    withExtendedLifetime(directory) {}
  }

  @Test func `a removed value is absent, and removing nothing is no failure`() throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.remove()
    try file.save { Value(number: 1) }
    try file.remove()
    #expect(try file.read() == nil)
    withExtendedLifetime(directory) {}
  }

  @Test func `something else in the place of the file is moved aside and not written through`() throws {
    let (directory, url) = try makeFile()
    let file = ValueFile<Value>(url)
    try file.save { Value(number: 1) }
    try FileManager.default.removeItem(at: url)
    let other = url.deletingLastPathComponent().appending(path: "other")
    try Data("{\"number\":9,\"texts\":[]}".utf8).write(to: other)
    try FileManager.default.createSymbolicLink(at: url, withDestinationURL: other)
    #expect(file.load() == nil)
    try file.save { Value(number: 2) }
    #expect(file.load() == Value(number: 2))
    #expect(try Data(contentsOf: other) == Data("{\"number\":9,\"texts\":[]}".utf8))
    withExtendedLifetime(directory) {}
  }

  @Test func `a file that cannot be written is an error, and the old value stays`() throws {
    let (directory, url) = try makeFile()
    let folder = url.deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: folder)
    #expect(throws: (any Error).self) { try ValueFile<Value>(url).save { Value() } }
    #expect(try Data(contentsOf: folder) == Data("x".utf8))
    withExtendedLifetime(directory) {}
  }
}

@Suite struct ValueFileStressTests {
  @Test func `of many writers the last one writes the newest value`() throws {
    let directory = try TemporaryDirectory("value-file")
    let file = ValueFile<Int>(URL(filePath: directory.path, directoryHint: .isDirectory).appending(path: "n.json"))
    let number = Locked(0)
    TestThreads.run(8) { _ in
      for _ in 0..<25 {
        number.withLock { $0 += 1 }
        try? file.save { number.withLock { $0 } }
        _ = file.load()
      }
    }
    #expect(file.load() == 200)
  }
}
