import Foundation
import Testing
import VestaTesting

@testable import VestaCore

/// The small files of an app: absent, damaged and unreadable are different.
@Suite struct AppFilesTests {
  private func set(_ mode: Int, on path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func `an installation keeps its identifier, until it is renewed`() throws {
    let directory = try TemporaryDirectory()
    let folder = URL(filePath: directory.path).appending(path: "app")
    let first = InstallationIDs().id(in: folder)
    #expect(InstallationIDs.isValid(first))
    // The files as a process finds them that starts again.
    let next = InstallationIDs()
    #expect(next.id(in: folder) == first)
    let renewed = next.renew(in: folder)
    #expect(renewed != first && InstallationIDs.isValid(renewed))
    #expect(next.id(in: folder) == renewed)
    #expect(InstallationIDs().id(in: folder) == renewed)
    #expect(try directory.bytes(of: "app/installation-id") == Array(renewed.utf8))
  }

  @Test func `two installations have different identifiers, which begin with the bits 0111`() throws {
    let directory = try TemporaryDirectory()
    let folders = (0..<40).map { URL(filePath: directory.path).appending(path: "\($0)") }
    let ids = folders.map { InstallationIDs().id(in: $0) }
    #expect(Set(ids).count == 40)
    #expect(ids.allSatisfy { $0.utf8.count == 22 && "cdef".contains($0.prefix(1)) })
  }

  @Test func `identifiers use every character of their alphabet`() throws {
    let directory = try TemporaryDirectory()
    let ids = InstallationIDs()
    // One of 64 characters is missing from 3,150 random ones about once in 10²⁰ times.
    let drawn = (0..<150).flatMap { _ in ids.renew(in: URL(filePath: directory.path)).dropFirst() }
    #expect(Set(drawn).count == 64)
  }

  @Test(
    arguments: [
      "", "c", "bAAAAAAAAAAAAAAAAAAAAA", "gAAAAAAAAAAAAAAAAAAAAA", "cAAAAAAAAAAAAAAAAAAAA!", "cAAAAAAAAAAAAAAAAAAAAAA",
    ])
  func `what is no identifier is replaced`(_ text: String) throws {
    let directory = try TemporaryDirectory()
    try directory.write(Array(text.utf8), to: "installation-id")
    #expect(!InstallationIDs.isValid(text))
    let id = InstallationIDs().id(in: URL(filePath: directory.path))
    #expect(InstallationIDs.isValid(id))
    #expect(try directory.bytes(of: "installation-id") == Array(id.utf8))
  }

  @Test func `an identifier that cannot be read is not replaced`() throws {
    let directory = try TemporaryDirectory()
    let folder = URL(filePath: directory.path)
    let id = InstallationIDs().id(in: folder)
    try set(0, on: directory.path(of: "installation-id"))
    FileModes.enforced {
      let other = InstallationIDs()
      let holds = other.id(in: folder)
      #expect(holds != id && InstallationIDs.isValid(holds))
      #expect(other.id(in: folder) == holds)
    }
    try set(0o600, on: directory.path(of: "installation-id"))
    #expect(InstallationIDs().id(in: folder) == id)
  }

  @Test func `an identifier that cannot be saved holds for the process`() throws {
    let directory = try TemporaryDirectory()
    try directory.write([1], to: "file")
    let ids = InstallationIDs()
    let folder = URL(filePath: directory.path(of: "file")).appending(path: "app")
    let id = ids.id(in: folder)
    #expect(InstallationIDs.isValid(id))
    #expect(ids.id(in: folder) == id)
  }

  @Test func `data collection is off while the settings cannot be read, and as it was set afterwards`() throws {
    let directory = try TemporaryDirectory()
    let folder = URL(filePath: directory.path)
    let file = directory.path(of: "app.json")
    for choice in [true, false] {
      AppSettings(directory: folder).isDataCollectionDefaultEnabled = choice
      try set(0, on: file)
      let settings = AppSettings(directory: folder)
      FileModes.enforced { #expect(!settings.isDataCollectionDefaultEnabled) }
      try set(0o600, on: file)
      #expect(settings.isDataCollectionDefaultEnabled == choice)
    }
  }

  @Test func `settings are readable by their owner alone`() throws {
    let directory = try TemporaryDirectory()
    AppSettings(directory: URL(filePath: directory.path).appending(path: "app")).isDataCollectionDefaultEnabled = false
    let mode = { (path: String) in try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
    #expect(try mode(directory.path(of: "app/app.json")) == 0o600)
    #expect(try mode(directory.path(of: "app")) == 0o700)
  }
}

@Suite struct VestaErrorTests {
  @Test func `the localized description is the sentence that says what to do, with its cause`() {
    let error: any Error = VestaError(.notProvided, "Nothing provides Weather. Add a package that does.")
    #expect(error.localizedDescription == "Nothing provides Weather. Add a package that does.")
    let failed: any Error = VestaError(.creationFailed, "Weather failed.", underlying: VestaError(.appDeleted, "Gone."))
    #expect(failed.localizedDescription == "Weather failed. Cause: app-deleted: Gone.")
  }
}
