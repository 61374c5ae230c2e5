internal import Foundation

extension DocumentSnapshot {
  /// What a document that does not exist is decoded from.
  static var null: Any { NSNull() }
}
