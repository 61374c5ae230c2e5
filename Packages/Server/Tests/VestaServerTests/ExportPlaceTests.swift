import Foundation
import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaServer

/// The directories that exports take the place of.
@Suite struct ExportPlaceTests {
  private let files = FileManager.default

  /// Writes files, whose content is a word.
  private func write(_ names: [String], _ word: String, in directory: URL) throws {
    for name in names {
      let file = directory.appending(path: name)
      try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(word.utf8).write(to: file)
    }
  }

  private func export(to target: URL, _ word: String, _ products: [String] = ["auth_export/a.json"]) throws {
    let place = ExportPlace(target.path)
    try place.check()
    let temporary = try place.makeTemporary(isPrivate: false)
    try write(products + [ExportDirectory.metadata], word, in: URL(filePath: temporary))
    try place.publish(temporary)
  }

  private func word(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

  @Test func `a directory has the old export or the new one, and never none, while it is replaced`() async throws {
    try await withTemporaryDirectory { directory in
      let target = directory.appending(path: "export")
      try export(to: target, "old")
      let place = ExportPlace(target.path)
      let temporary = try place.makeTemporary(isPrivate: false)
      try write(["auth_export/a.json", ExportDirectory.metadata], "new", in: URL(filePath: temporary))
      // Its inode says that the directory itself was exchanged, and not removed and made again.
      let number = try files.attributesOfItem(atPath: temporary)[.systemFileNumber] as? NSNumber
      #expect(try word(target.appending(path: "auth_export/a.json")) == "old")
      try place.publish(temporary)
      #expect(try word(target.appending(path: "auth_export/a.json")) == "new")
      #expect(try files.attributesOfItem(atPath: target.path)[.systemFileNumber] as? NSNumber == number)
      #expect(try files.contentsOfDirectory(atPath: directory.path) == ["export"])
    }
  }

  @Test func `files that are no export's stay, and products that are not exported leave`() async throws {
    try await withTemporaryDirectory { directory in
      let target = directory.appending(path: "export")
      try write([".gitkeep"], "", in: target)
      try export(to: target, "old", ["auth_export/a.json", "storage_export/b.json"])
      #expect(try files.contentsOfDirectory(atPath: target.path).count == 4)
      try write(["README.md"], "precious", in: target)
      try export(to: target, "new", ["auth_export/a.json", "database_export/c.json"])
      #expect(try word(target.appending(path: "README.md")) == "precious")
      #expect(try word(target.appending(path: "auth_export/a.json")) == "new")
      let expected = [".gitkeep", "README.md", "auth_export", "database_export", ExportDirectory.metadata]
      #expect(try Set(files.contentsOfDirectory(atPath: target.path)) == Set(expected))
    }
  }

  @Test func `a link is followed, and directories that a killed process has left are removed`() async throws {
    try await withTemporaryDirectory { directory in
      let (target, link) = (directory.appending(path: "export"), directory.appending(path: "link"))
      try export(to: target, "old")
      try files.createSymbolicLink(at: link, withDestinationURL: target)
      // No process has this number.
      try write([".export.export-2147483647-abc/auth_export/a.json"], "left", in: directory)
      try export(to: link, "new")
      #expect(try word(target.appending(path: "auth_export/a.json")) == "new")
      #expect(try Set(files.contentsOfDirectory(atPath: directory.path)) == ["export", "link"])
    }
  }

  @Test func `a link to a place that is not there yet stays a link`() async throws {
    try await withTemporaryDirectory { directory in
      let (link, cycle) = (directory.appending(path: "link"), directory.appending(path: "cycle"))
      try files.createSymbolicLink(atPath: link.path, withDestinationPath: "deep/export")
      try ExportPlace(link.path).checkWritable()
      try export(to: link, "new")
      #expect(try word(directory.appending(path: "deep/export/auth_export/a.json")) == "new")
      #expect(try files.destinationOfSymbolicLink(atPath: link.path) == "deep/export")
      #expect(try Set(files.contentsOfDirectory(atPath: directory.path)) == ["deep", "link"])
      try files.createSymbolicLink(atPath: cycle.path, withDestinationPath: "cycle")
      #expect(throws: (any Error).self) { try export(to: cycle, "new") }
    }
  }

  @Test func `an export that cannot take its place stays, and is named`() async throws {
    try await withTemporaryDirectory { directory in
      let target = directory.appending(path: "export")
      let place = ExportPlace(target.path)
      let temporary = try place.makeTemporary(isPrivate: false)
      try write([ExportDirectory.metadata], "new", in: URL(filePath: temporary))
      // A file has taken the place since it was checked.
      try write(["export/x"], "", in: directory)
      let moved = directory.appending(path: "moved")
      try files.moveItem(atPath: temporary, toPath: moved.path)
      let error = #expect(throws: ServerError.self) { try place.publish(temporary) }
      #expect(error?.description.contains("is complete in \(temporary)") == true)
    }
  }
}
