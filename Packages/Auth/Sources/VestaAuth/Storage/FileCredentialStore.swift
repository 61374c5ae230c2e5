public import Foundation
public import VestaCredentialInterop
import VestaFiles

/// Keeps each session in a separate file, which only its owner may read (mode 0600, in a directory with mode 0700).
///
/// - A write is on the disk when `save` returns. A crash during it leaves the old bytes or the new ones, whole.
/// - Earlier bytes may still be in the file, until `remove` deletes it: secrets that only the owner can read.
/// - A symbolic link, a pipe or another user's file in the place of a session is refused, and never followed. Rights
///   that others have to a session are taken away when it is next used.
/// - All that is kept carries a checksum. A damaged file is renamed to `….corrupt-…` and never deleted.
/// - Several stores, also in several processes, may have the same directory.
public final class FileCredentialStore: CredentialStore {
  /// The directory of the files.
  public let directory: URL

  private let directoryPath: String

  /// A store in a directory, which is made when something is first kept.
  ///
  /// - Parameter directory: The directory.
  public init(directory: URL) {
    self.directory = directory
    directoryPath = directory.path(percentEncoded: false).withoutTrailingSlash
  }

  /// Returns the bytes that were saved last under a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes; `nil` when there is no file.
  /// - Throws: `unreadable`; `corrupted` when the file is damaged, with its new name in the message.
  public func load(_ key: String) throws(CredentialStoreError) -> [UInt8]? {
    let path = path(of: key)
    let file: [UInt8]?
    DurableFile.sweep(path)
    do {
      file = try DurableFile.read(path)
    } catch {
      throw CredentialStoreError(.unreadable, Self.message(path, "read", error), underlying: error)
    }
    guard let file else { return nil }
    if let bytes = CredentialFile.decode(file) { return bytes }
    let place = try setAside(key)
    throw CredentialStoreError(.corrupted, "The session in \(path) is damaged. It is kept as \(place). Sign in again.")
  }

  /// Keeps bytes under a key.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - key: The key.
  /// - Throws: `unwritable`; the file is as it was, or has the new bytes where only its directory could not be written.
  public func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError) {
    let path = path(of: key)
    try writing(path) { () throws(FileFailure) in
      if try DurableFile.change(path, { CredentialFile.layout.change(of: $0, to: bytes) }) { return }
      try DurableFile.makeDirectory(directoryPath)
      try DurableFile.replace(path, with: CredentialFile.layout.encode(bytes))
    }
  }

  /// Deletes the file of a key.
  ///
  /// - Parameter key: The key.
  /// - Throws: `unwritable`; the file is there still.
  public func remove(_ key: String) throws(CredentialStoreError) {
    let path = path(of: key)
    try writing(path) { () throws(FileFailure) in try DurableFile.remove(path) }
  }

  /// Renames the file of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The path of the file from then on.
  /// - Throws: `unwritable`; the file has its name still.
  public func setAside(_ key: String) throws(CredentialStoreError) -> String {
    let path = path(of: key)
    let place = "\(path).corrupt-\(UUID().uuidString)"
    try writing(path) { () throws(FileFailure) in try DurableFile.move(path, to: place) }
    return place
  }

  private func writing(
    _ path: String, _ body: () throws(FileFailure) -> Void
  ) throws(CredentialStoreError) {
    do {
      try body()
    } catch {
      throw CredentialStoreError(.unwritable, Self.message(path, "written", error), underlying: error)
    }
  }

  private static func message(_ path: String, _ verb: String, _ error: FileFailure) -> String {
    """
    The session in \(path) cannot be \(verb): \(error). Check who owns the directory and its files, whether the disk is \
    full, and that no file is in the place of a directory.
    """
  }

  private func path(of key: String) -> String { "\(directoryPath)/\(CredentialFile.name(of: key))" }
}

extension String {
  fileprivate var withoutTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
