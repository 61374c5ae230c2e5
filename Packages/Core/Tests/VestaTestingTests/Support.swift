import Foundation

enum TemporaryDirectoryReader {
  static func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
}
