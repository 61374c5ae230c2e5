import Foundation
import VestaBytes
import VestaFiles

/// The folder of a project: that of `firebase.json`, with `.firebaserc` and the data in it.
///
/// As for the Firebase CLI it is the working directory, or the next one above it that has a `firebase.json`; commands
/// work in each folder of a project then, and do not leave out its rules.
struct ProjectFolder {
  /// The path.
  let path: String

  /// Looks for the folder.
  ///
  /// - Parameter directory: The working directory, which is the folder where no `firebase.json` is found.
  init(of directory: String) {
    var folder = directory
    while !FileManager.default.fileExists(atPath: "\(folder)/\(Self.configuration)") {
      let parent = FilePath.parent(of: folder)
      guard parent != folder else {
        path = directory
        return
      }
      folder = parent
    }
    path = folder
  }

  static let configuration = "firebase.json"
  private static let names = ".firebaserc"

  /// The bytes of `.firebaserc`; `nil` where there is none.
  ///
  /// - Throws: ``ServerError`` for a file that cannot be read, and for one that is no JSON: the server would be for
  ///   another project, without a word.
  func firebaserc() throws(ServerError) -> [UInt8]? {
    let file = "\(path)/\(Self.names)"
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    guard let bytes = FileManager.default.contents(atPath: file).map(Array.init) else {
      throw ServerError("\(file) cannot be read.")
    }
    do throws(BytesError) {
      _ = try FirebaseFile.object(bytes)
      return bytes
    } catch {
      throw ServerError("\(file) is not valid JSON: \(error.message). Mend it, or remove it.")
    }
  }
}
