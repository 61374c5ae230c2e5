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
    return known.withLock { known in
      if let id = known[file.path] { return id }
      let id = Self.read(file) ?? Self.draw(into: file)
      known[file.path] = id
      return id
    }
  }

  func renew(in directory: URL) -> String {
    let file = directory.appending(path: "installation-id")
    return known.withLock { known in
      let id = Self.draw(into: file)
      known[file.path] = id
      return id
    }
  }

  private static func read(_ file: URL) -> String? {
    guard let data = try? Data(contentsOf: file), let id = String(data: data, encoding: .utf8) else { return nil }
    return isValid(id) ? id : nil
  }

  /// Whether a string is an installation identifier: 17 bytes in base64url, the first of which begin with 0111.
  static func isValid(_ id: String) -> Bool {
    guard id.utf8.count == 22, let first = id.utf8.first, UInt8(ascii: "c")...UInt8(ascii: "f") ~= first else {
      return false
    }
    return id.utf8.allSatisfy(alphabet.contains)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func draw(into file: URL) -> String {
    // Each character encodes six random bits; the first two of the first one are 01 and the next two 11.
    var id = [alphabet[Int.random(in: 28...31)]]
    for _ in 1..<22 { id.append(alphabet[Int.random(in: 0...63)]) }
    let text = String(decoding: id, as: UTF8.self)
    do {
      try DurableFile.makeDirectory(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: Array(text.utf8))
    } catch {
      log.warning("I-COR000007", "The installation identifier could not be saved to \(file.path): \(error)")
    }
    return text
  }
}

private let log = Logger(service: "VestaCore")
