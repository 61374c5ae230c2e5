import Foundation

/// Decides what a change of the session entails.
///
/// Pure: events in, actions out, to be performed in order.
///
/// Two rules precede all others:
/// - The store decides who is signed in at the start only. Once something has happened, a later look into the store
///   changes nothing.
/// - A session that the store could not save is saved at the next occasion. No user is signed out for it.
struct SessionMachine {
  /// An action to perform.
  enum Action: Equatable {
    /// Keep the session.
    case save(StoredSession)
    /// Forget the session.
    case erase
    /// Another user, or none, is signed in.
    case announceUser
    /// There is another token, or none.
    case announceToken
    /// Refresh the token by itself at its time.
    case watch(expiration: Date)
    /// There is no token to refresh.
    case stopWatching
  }

  /// The session; `nil` when no user is signed in, or nothing has been read yet.
  private(set) var session: StoredSession?

  /// Whether it is known who is signed in.
  private(set) var isRead = false

  /// The write that the store has not accepted yet.
  private(set) var pendingWrite: Action?

  /// The store has been read.
  mutating func storeWasRead(_ stored: StoredSession?) -> [Action] {
    guard !isRead else { return [] }
    isRead = true
    guard let stored else { return [] }
    session = stored
    return [.announceUser, .announceToken, .watch(expiration: stored.tokens.expiration)]
  }

  /// A user has signed in or out, or something about the user or the tokens is new.
  mutating func sessionChanged(to new: StoredSession?) -> [Action] {
    let old = session
    // A sign-out counts also before the store was read: its user must not reappear.
    guard old != new || !isRead else { return [] }
    isRead = true
    session = new
    let write = new.map(Action.save) ?? .erase
    pendingWrite = write
    var actions = [write]
    if old?.user.uid != new?.user.uid { actions.append(.announceUser) }
    guard old?.tokens.idToken != new?.tokens.idToken || old?.user.uid != new?.user.uid else { return actions }
    actions.append(.announceToken)
    actions.append(new.map { .watch(expiration: $0.tokens.expiration) } ?? .stopWatching)
    return actions
  }

  /// The store has taken the last change.
  mutating func storeTookTheChange() { pendingWrite = nil }
}
