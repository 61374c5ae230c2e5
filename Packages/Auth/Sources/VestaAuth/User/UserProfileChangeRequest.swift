public import Foundation
import VestaAuthBackend
import VestaConcurrency

/// A change of a user's profile.
///
/// ```swift
/// let request = user.createProfileChangeRequest()
/// request.displayName = "Ada"
/// try await request.commitChanges()
/// ```
///
/// Properties that are not set keep their values; properties that are set to `nil` are removed. A change is committed
/// once.
public final class UserProfileChangeRequest: Sendable {
  let user: User
  private let changes = Locked(Changes())

  private struct Changes: Sendable {
    var displayName: String??
    var photoURL: URL??
    var isCommitted = false

    func request(idToken: String) -> UpdateRequest {
      var request = UpdateRequest(idToken: idToken)
      switch displayName {
      case .some(.some(let name)): request.displayName = name
      case .some(.none): request.deleteAttributes.insert(.displayName)
      case .none: break
      }
      switch photoURL {
      case .some(.some(let url)): request.photoURL = url.absoluteString
      case .some(.none): request.deleteAttributes.insert(.photoURL)
      case .none: break
      }
      return request
    }
  }

  init(user: User) { self.user = user }

  /// The display name.
  public var displayName: String? {
    get { changes.withLock { $0.displayName } ?? user.displayName }
    set { changes.withLock { $0.displayName = .some(newValue) } }
  }

  /// The URL of the user's picture.
  public var photoURL: URL? {
    get { changes.withLock { $0.photoURL } ?? user.photoURL }
    set { changes.withLock { $0.photoURL = .some(newValue) } }
  }

  /// Commits the changes.
  ///
  /// - Throws: ``AuthError``; nothing has changed then. Also when it was called before.
  public func commitChanges() async throws {
    let changes = changes.withLock { changes in
      defer { changes.isCommitted = true }
      return changes
    }
    guard !changes.isCommitted else {
      throw AuthError(.internalError, "The changes have been committed. Make another request for further changes.")
    }
    guard changes.displayName != nil || changes.photoURL != nil else { return }
    try await AuthActor.run { try await self.user.update { changes.request(idToken: $0) } }
  }
}
