internal import Foundation

extension DocumentSnapshot {
  /// The data from which a document that does not exist is decoded.
  static var null: Any { NSNull() }
}
