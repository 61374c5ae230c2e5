import VestaStoreInterop
import Synchronization

/// A body that is running, known to everything that is called from it.
///
/// It is bound to the task while the body runs, so child tasks see it as well. A task that outlives the body sees it
/// too, but as one that has ended.
final class ActiveBody: Sendable {
  enum Kind { case read, write }

  @TaskLocal static var current: ActiveBody?

  private let store: ObjectIdentifier
  private let kind: Kind
  private let outer: ActiveBody?
  private let hasEnded = Atomic(false)

  init(_ kind: Kind, of store: ObjectIdentifier) {
    self.kind = kind
    self.store = store
    outer = Self.current
  }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  /// Whether the caller is inside a body of the store, of one kind or of any.
  static func isInside(_ kind: Kind? = nil, of store: ObjectIdentifier) -> Bool {
    var body = current
    while let found = body {
      let isActive = !found.hasEnded.load(ordering: .relaxed)
      if isActive, found.store == store, kind == nil || found.kind == kind { return true }
      body = found.outer
    }
    return false
  }
}
