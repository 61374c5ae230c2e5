public import Foundation

#if !canImport(ObjectiveC)
  /// Where a block of a transaction reports an error, as in the Firebase SDK: `errorPointer?.pointee = error`.
  public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

/// The pointer that a block of a transaction gets.
func errorPointer(_ pointer: UnsafeMutablePointer<NSError?>) -> NSErrorPointer {
  #if canImport(ObjectiveC)
    AutoreleasingUnsafeMutablePointer(pointer)
  #else
    pointer
  #endif
}

/// Whether this is the thread of the user interface, which must not be kept busy.
var isMainThread: Bool { Thread.isMainThread }

/// The path of a file URL.
func path(of url: URL) -> String { url.path }
