import VestaBytes
import VestaConcurrency
import VestaFiles

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension VestaApp {
  /// The identifier of this installation of the app: 22 characters, drawn when it is first needed.
  ///
  /// It is kept in the data directory and stays the same until that is removed. Where it cannot be saved it holds until
  /// the process ends, and the log says so.
  public var installationID: String { InstallationIDs.shared.id(in: dataDirectory) }

  /// Draws a new identifier for this installation, in place of the one there was.
  ///
  /// - Returns: The new identifier.
  @discardableResult
  public func renewInstallationID() -> String { InstallationIDs.shared.renew(in: dataDirectory) }
}

/// The identifiers of the installations in this process, by their files.
final class InstallationIDs: Sendable {
  static let shared = InstallationIDs()

  private let known = Locked<[String: String]>([:])

  func id(in directory: URL) -> String {
    let file = directory.appending(path: "installation-id")
    // The file is read and written under the lock, so that all threads get the same identifier; nothing is called back.
    let (id, failure) = known.withLock { known -> (String, FileFailure?) in
      if let id = known[file.path] { return (id, nil) }
      let (id, failure) = Self.load(file)
      known[file.path] = id
      return (id, failure)
    }
    Self.report(failure, file)
    return id
  }

  func renew(in directory: URL) -> String {
    let file = directory.appending(path: "installation-id")
    let (id, failure) = known.withLock { known in
      let (id, failure) = Self.draw(into: file)
      known[file.path] = id
      return (id, failure)
    }
    Self.report(failure, file)
    return id
  }

  /// The identifier in the file, or a new one where there is none.
  private static func load(_ file: URL) -> (String, FileFailure?) {
    do {
      let id = String(decoding: try DurableFile.read(file.path) ?? [], as: UTF8.self)
      return isValid(id) ? (id, nil) : draw(into: file)
    } catch {
      // The identifier of before may still be in the file, which is therefore left as it is.
      return (SystemRandom.installationID(), error)
    }
  }

  private static func report(_ failure: FileFailure?, _ file: URL) {
    guard let failure else { return }
    log.warning(
      "I-COR000016",
      "The installation identifier in \(file.path) could not be used, another one holds for this process: \(failure)")
  }

  /// Whether a string is an installation identifier: 17 bytes in base64url, whose first four bits are 0111.
  static func isValid(_ id: String) -> Bool {
    guard id.utf8.count == 22, let first = id.utf8.first, UInt8(ascii: "c")...UInt8(ascii: "f") ~= first else {
      return false
    }
    return id.utf8.allSatisfy(alphabet.contains)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func draw(into file: URL) -> (String, FileFailure?) {
    let id = SystemRandom.installationID()
    do {
      try DurableFile.makeDirectory(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: Array(id.utf8))
      return (id, nil)
    } catch {
      return (id, error)
    }
  }
}

private let log = Logger(service: "VestaCore")
